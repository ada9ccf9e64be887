"""The token by which a program outside proves that it was asked: an HMAC of its ticket's id.

A ticket's id is an address and no secret. Where a program is asked (a gate of kind ``external``),
whoever asks it hands the token on with the address, and the door that its call comes back to
compares it. The secret is known to those two alone; neither it nor a token is in the log or in a
history.
"""

import hmac
from hashlib import sha256

SCHEME = "fermata-callback-1"


def callback_token(ticket: str, secret: str) -> str:
    """Return the token of a ticket: HMAC-SHA256 under the secret, as 64 hex digits."""
    return hmac.new(secret.encode(), f"{SCHEME}\n{ticket}".encode(), sha256).hexdigest()


def is_callback_token(ticket: str, token: str, secret: str) -> bool:
    """Return whether a token is that of a ticket; how far it fits cannot be timed."""
    return hmac.compare_digest(callback_token(ticket, secret).encode(), token.encode())
