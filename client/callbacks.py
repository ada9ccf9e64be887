"""Whether a call from outside may answer the ticket it names; for who stands before the doors."""

from client.settings import callback_secret
from seeding.callbacks import is_callback_token
from seeding.errors import ActorNotAllowed, InvalidSettings


def check_callback(ticket: str, token: str) -> None:
    """Pass a call whose token is that of the ticket it answers.

    Args:
        ticket: The ticket's id.
        token: What the call brought.

    Raises:
        ActorNotAllowed: It is the token of another ticket, or of none.
        InvalidSettings: No secret is configured to compare it by.
    """
    secret = callback_secret()
    if secret is None:
        raise InvalidSettings(
            "a callback is compared by a secret: FERMATA_CALLBACK_SECRET_ENV names the "
            "environment variable that holds it, and is not set"
        )
    if not is_callback_token(ticket, token, secret):
        raise ActorNotAllowed(
            f"the token is not that of ticket {ticket!r}; `fermata tickets --json` shows it as "
            "callback"
        )
