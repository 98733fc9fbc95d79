"""HTTP goes to Django, sockets go to the consumers."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")
http = get_asgi_application()

from openwop_console.urls import sockets_urlpatterns  # noqa: E402  (needs the apps to be ready)

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(sockets_urlpatterns))),
    }
)
