"""LLSD in its three codings behind one guard: bounded, strict, and with one typed error."""

from live_grid.llsd.binary_reader import read_llsd_binary_untrusted as read_llsd_binary_untrusted
from live_grid.llsd.notation_reader import read_llsd_notation_untrusted as read_llsd_notation_untrusted
from live_grid.llsd.reading import read_llsd_untrusted as read_llsd_untrusted
from live_grid.llsd.values import LlsdGiven as LlsdGiven
from live_grid.llsd.values import LlsdValue as LlsdValue
from live_grid.llsd.values import Uri as Uri
from live_grid.llsd.writing import write_llsd_binary as write_llsd_binary
from live_grid.llsd.writing import write_llsd_notation as write_llsd_notation
from live_grid.llsd.writing import write_llsd_xml as write_llsd_xml
from live_grid.llsd.xml_reader import read_llsd_xml_untrusted as read_llsd_xml_untrusted

__all__ = (
    "LlsdGiven",
    "LlsdValue",
    "Uri",
    "read_llsd_binary_untrusted",
    "read_llsd_notation_untrusted",
    "read_llsd_untrusted",
    "read_llsd_xml_untrusted",
    "write_llsd_binary",
    "write_llsd_notation",
    "write_llsd_xml",
)
