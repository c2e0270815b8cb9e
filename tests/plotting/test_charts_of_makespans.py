"""The chart of makespans: texts stay within the picture, however long the names of networks are."""

import pytest

import topoloom
from topoloom.plotting import makespans

LONG = (
    "cluster:hosts=16,host=hgx-h100,fabric=(rack-tree:racks=1,leaf=8,p=16,upper=4,trunk=2,top=1,rate=400G,delay=250ns),"
    "attach=block,leaves=8"
)


@pytest.mark.parametrize("specs", [["mesh:4", "torus:4"], [LONG], [LONG, f"{LONG},rate.nic=200G"]])
def test_texts_stay_within_the_picture(specs, tmp_path, monkeypatch):
    drawn = []
    save = makespans.save_plot
    monkeypatch.setattr(
        makespans, "save_plot", lambda figure, *args, **how: (drawn.append(figure), save(figure, *args, **how))
    )
    topoloom.workload(specs, ["reduce"]).write_plot(tmp_path / "makespans.svg")
    (figure,) = drawn
    (panel,), (legend,) = figure.axes, figure.legends
    figure.draw_without_rendering()
    whole = figure.bbox
    for text in [panel.yaxis.label, panel.title, *panel.get_xticklabels(), *legend.get_texts()]:
        box = text.get_window_extent()
        assert whole.x0 <= box.x0, text
        assert whole.y0 <= box.y0, text
        assert box.x1 <= whole.x1, text
        assert box.y1 <= whole.y1, text
    # The rest of the picture is the chart.
    assert panel.bbox.height > whole.height / 4
    shown = "".join(f"{panel.title.get_text()} {panel.yaxis.label.get_text()}".split())
    assert "".join(specs[0].split()) in shown
