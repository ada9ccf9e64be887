"""A process of its own that opens a log, at the same moment as others, and closes it again."""

import sys

from activities.log import CommitLog

if __name__ == "__main__":
    sys.stdin.readline()
    with CommitLog.open(sys.argv[1]) as opened:
        print(opened.threads())
