"""Parameters that models take, by the table of their vendors' families."""

from tests.tables import each_row
from tui.domain.models import ModelParameters
from tui.providers.model_table import adaptation


@each_row(
    "wanted, sent, words",
    [
        (ModelParameters(0.5, 9, "low"), ModelParameters(0.5, 9, "low"), ""),
        (ModelParameters(0.5, 9), ModelParameters(None, 9), "temperature 0.5: left out."),
        (ModelParameters(effort="off"), ModelParameters(effort="low"), "effort off: sent effort"),
        (ModelParameters(effort="off"), ModelParameters(), ""),
        (ModelParameters(0.5, 9, "low"), ModelParameters(), "temperature 0.5, max_tokens 9 and"),
    ],
)
def test_the_difference_is_told(wanted: ModelParameters, sent: ModelParameters, words: str):
    told = adaptation("x:m", wanted, sent, lambda _: sent)
    assert told.startswith(f"x:m does not take {words}") if words else told == ""


def test_what_is_refused_only_beside_other_parameters_is_told_with_them():
    wanted, sent = ModelParameters(None, 77, "low"), ModelParameters(None, 77)
    told = adaptation("x:m", wanted, sent, lambda parameters: parameters)
    assert told == "x:m does not take effort low with max_tokens 77: left out."
