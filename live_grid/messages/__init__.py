"""Messages of the protocol: their names, their layouts as typed structs, and the functions that read and write them.

Import message classes from their family: `circuits`, `regions`, `parcels`, `avatars`, `speech`,
`travel`, `people`, `objects`, `holdings`, `making`.
"""

from live_grid.messages.names import BY_NAME as BY_NAME
from live_grid.messages.names import BY_NUMBER as BY_NUMBER
from live_grid.messages.names import Header as Header
from live_grid.messages.names import name_of as name_of
from live_grid.messages.notation import NIL as NIL
from live_grid.messages.notation import Message as Message
from live_grid.messages.notation import text_of as text_of
from live_grid.messages.notation import wire_text as wire_text
from live_grid.messages.table import LAYOUTS as LAYOUTS
from live_grid.messages.table import Layout as Layout
from live_grid.messages.table import header_of as header_of
from live_grid.messages.table import layout_of as layout_of

__all__ = (
    "BY_NAME",
    "BY_NUMBER",
    "LAYOUTS",
    "NIL",
    "Header",
    "Layout",
    "Message",
    "header_of",
    "layout_of",
    "name_of",
    "text_of",
    "wire_text",
)
