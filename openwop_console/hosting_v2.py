"""Where requests of OpenWOP's second major go: its addresses are bare, as those of our pages are.

What tells the two apart is the header `OpenWOP-Version`, which every client of v2 sends and no
browser does. Source: OpenWOP RFC 0172 §A.3.
"""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.urls import include, path
from django.utils.deprecation import MiddlewareMixin
from django.views.decorators.csrf import csrf_exempt

from openwop_console.error_pages import api_not_found
from verification.domain.hosting.majors import HEADER, Major
from verification.urls import hosting

PLACES = ("/runs", "/interrupts")

urlpatterns = [
    path("", include(hosting(Major.V2))),
    path("<path:rest>", csrf_exempt(login_not_required(api_not_found))),
]

handler400 = "openwop_console.error_pages.bad_request"
handler404 = "openwop_console.error_pages.not_found"
handler500 = "openwop_console.error_pages.failed"


class HostingV2(MiddlewareMixin):
    """Sends requests of v2 to the addresses of v2."""

    def process_request(self, request: HttpRequest) -> None:
        """Choose the addresses by the header."""
        if is_bare(request):
            request.urlconf = __name__


def is_bare(request: HttpRequest) -> bool:
    """Say whether a request is one for an address without `/v1` of the Console as a host."""
    return HEADER in request.headers and request.path.startswith(PLACES)
