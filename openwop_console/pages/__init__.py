"""The pages: where facts and judgements meet, above both apps.

A page module has one function that gathers what the page shows, used by the view and by the socket
that keeps it true, and the views, which translate and nothing more.
"""
