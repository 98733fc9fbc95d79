"""The web process: uvicorn on a socket that the supervisor has bound and keeps.

Because the socket outlives this process, requests that arrive while it restarts wait instead of
being refused.
"""

import socket
import sys

import uvicorn


def main(descriptor: int) -> None:
    """Serve until told to stop."""
    config = uvicorn.Config(
        "openwop_console.asgi:application",
        lifespan="off",
        access_log=False,
        log_config=None,  # the settings say how lines look
        server_header=False,
        proxy_headers=False,  # nothing stands before us here, so nobody may claim to
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    main(int(sys.argv[1]))
