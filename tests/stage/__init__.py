"""Tests of the local stage: the dev server, the worker beside it, the sample nodes."""
