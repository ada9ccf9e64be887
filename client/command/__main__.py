"""``python -m client.command``: the ``fermata`` command without an installed script."""

from client.command import main

if __name__ == "__main__":
    main()
