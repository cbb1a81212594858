"""The style sheet of the report, for light and dark pages, wide and narrow."""

from __future__ import annotations

from papers.frame.experiment import NOT_RUN, VERDICTS

_COLOURS = ("#15803d", "#a16207", "#64748b", "#7c3aed", "#b91c1c")  # of the verdicts, in their order
_KINDS = [kind.replace(" ", "-") for kind in VERDICTS if kind != NOT_RUN]
_MARKS = "".join(
    f".verdict.{kind}{{background:{colour}}}body:has(#show-{kind}:checked) section:not(.{kind}){{display:none}}"
    for kind, colour in zip(_KINDS, _COLOURS, strict=True)
)

STYLE = f"""
:root{{color-scheme:light dark;--ink:#1e293b;--soft:#526075;--line:#dbe2ea;--back:#fff;--side:#f8fafc;--link:#1d4ed8}}
@media(prefers-color-scheme:dark){{:root{{--ink:#e2e8f0;--soft:#9fb0c3;--line:#334155;--back:#10151d;--side:#161d28;
--link:#8ab4f8}}}}
*{{box-sizing:border-box}}html{{scroll-padding-top:1rem}}
body{{margin:0;font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--back);display:flex}}
a{{color:var(--link);text-decoration:none}}a:hover{{text-decoration:underline}}
nav{{flex:0 0 15rem;height:100vh;overflow:auto;position:sticky;top:0;padding:1rem;background:var(--side);
border-right:1px solid var(--line);font-size:.9rem}}
nav ul{{list-style:none;margin:.2rem 0 .8rem;padding-left:1rem}}nav summary{{font-weight:600}}.home{{font-weight:700}}
main{{flex:1;min-width:0;max-width:66rem;padding:1.5rem 2rem}}
h1,h2,h3{{line-height:1.25}}h2{{margin-top:3rem}}
section{{border-top:1px solid var(--line);margin:1.6rem 0;padding-top:.4rem}}
.tally{{margin:.2rem 0;font-weight:600;color:var(--soft)}}
.claims{{list-style:none;padding:0}}.claims li{{margin:.9rem 0}}
.claims p{{margin:.15rem 0}}.where,.note,small,figcaption{{color:var(--soft);font-size:.88rem}}
.verdict{{color:#fff;border-radius:.3rem;padding:.05rem .45rem;font-size:.82rem;white-space:nowrap;background:#64748b}}
figure{{margin:1rem 0}}img{{max-width:100%;height:auto}}.wide{{overflow-x:auto}}
code{{background:var(--side);border:1px solid var(--line);padding:.1rem .35rem;border-radius:.25rem}}
table{{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}}
td,th{{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line)}}
td:first-child,th:first-child{{text-align:left}}dt{{font-weight:600}}
.show{{margin:1rem 0;display:flex;flex-wrap:wrap;gap:.3rem .9rem}}
@media(max-width:56rem){{body{{display:block}}nav{{height:auto;max-height:14rem;position:static;border:0}}
nav ul{{display:flex;flex-wrap:wrap;gap:0 .8rem;padding:0}}main{{padding:1rem}}}}
{_MARKS}
"""
