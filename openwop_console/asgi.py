"""HTTP goes to Django, sockets go to the consumers."""

import gc
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

# What has been loaded by now stays: to look through it for garbage again and again, each time that
# a few batches of events have come and gone, is a tenth of what taking them costs. And what is made
# to judge a long run is no garbage yet: to look at it 20,000 values at a time is often enough.
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 10, 10)
