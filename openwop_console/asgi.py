"""HTTP goes to Django, sockets go to the consumers."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")
http = get_asgi_application()

# These need the apps to be ready.
from openwop_console.body_limit import BodyLimit  # noqa: E402
from openwop_console.events_edge import EventsEdge  # noqa: E402
from openwop_console.front import Front  # noqa: E402
from openwop_console.urls import sockets_urlpatterns  # noqa: E402
from verification.patience import PatientGates  # noqa: E402

edge = EventsEdge(BodyLimit(PatientGates(http)))
application = ProtocolTypeRouter(
    {
        "http": Front(edge),
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(URLRouter(sockets_urlpatterns))
        ),
    }
)
