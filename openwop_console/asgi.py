"""HTTP goes to Django, sockets go to the consumers."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")
http = get_asgi_application()

# These need the apps to be ready.
from django.conf import settings  # noqa: E402

from openwop_console.body_limit import BodyLimit  # noqa: E402
from openwop_console.urls import sockets_urlpatterns  # noqa: E402
from verification.patience import PatientGates  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(
            PatientGates(http),
            limit=settings.MAX_BODY_BYTES,
            setting="OPENWOP_CONSOLE_MAX_BODY_BYTES",
        ),
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(URLRouter(sockets_urlpatterns))
        ),
    }
)
