"""HTML by construction: nothing gets in unescaped."""

from __future__ import annotations

from sprintrec.report.document import NOTHING, Head, Markup, number, table, tag, together

HOSTILE = "<script>alert(\"1\")</script> & 'more'"


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p", HOSTILE) == ("<p>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#x27;more&#x27;</p>")
    assert tag("p", tag("b", "x"), 3) == "<p><b>x</b>3</p>"
    assert together(["<", "<"], Markup("<wbr>")) == "&lt;<wbr>&lt;"


def test_attributes_are_escaped_and_may_be_absent() -> None:
    assert tag("a", title='"><script>', class_="x", text_anchor="end", lang=None) == (
        '<a title="&quot;&gt;&lt;script&gt;" class="x" text-anchor="end"></a>'
    )
    assert tag("line", x1=0) == '<line x1="0"/>'


def test_cells_of_a_table_are_escaped() -> None:
    shown = table(HOSTILE, [[Head(HOSTILE), Head(HOSTILE)]], [[HOSTILE, HOSTILE]], HOSTILE)
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 7  # caption, its spoken label, two heads, two cells, foot


def test_a_number_keeps_its_exact_value() -> None:
    assert number(0.123456789, "0.1235") == '<data value="0.123456789">0.1235</data>'
    assert number(1, "1", "beneath", best=True) == '<b><data value="1">1</data></b><small>beneath</small>'
    assert number(None, "whatever") is NOTHING


def test_the_first_cell_names_its_row() -> None:
    shown = table("Heights", [[Head("Hill", text=True), Head("m")]], [["Brocken", "1141"]])
    assert '<th scope="row">Brocken</th><td>1141</td>' in shown
    assert '<th scope="col" class="words">Hill</th><th scope="col">m</th>' in shown
