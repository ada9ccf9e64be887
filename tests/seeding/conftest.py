"""Property tests are judged by what they find, not by how long a busy machine takes."""

from hypothesis import HealthCheck, settings

settings.register_profile("fermata", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fermata")
