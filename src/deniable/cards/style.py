"""The style of cards.

Text and lines take the colour of the page around them, so that a card suits a light and a dark theme, whatever its
system asks for. The colour of bars is that of Jupyter or VS Code, else one that is legible on white and on black.
Selectors name the card twice to prevail over the tables of a notebook.
"""

from __future__ import annotations

BAR = "#3b82c4"
CSS = """
.dn-card.dn-card{display:inline-block;min-width:min(100%,36em);max-width:100%;box-sizing:border-box;overflow-x:auto;
margin:4px 0;padding:10px 14px;border:1px solid var(--dn-line);border-radius:8px;color:inherit;text-align:left;
font:13px/1.5 var(--jp-ui-font-family,var(--vscode-font-family,system-ui,sans-serif));
--dn-line:rgba(128,128,128,.4);--dn-thin:rgba(128,128,128,.2);--dn-bar:var(--jp-brand-color1,var(--vscode-charts-blue,BAR))}
.dn-card.dn-card .dn-title{font-weight:600;width:0;min-width:100%}
.dn-card.dn-card .dn-kind{font-weight:400;opacity:.7;margin-right:.5em}
.dn-card.dn-card table{border-collapse:collapse;border:0;margin:6px 0 4px;font-size:inherit;table-layout:auto}
.dn-card.dn-card tr,.dn-card.dn-card tr:nth-child(n),.dn-card.dn-card tr:nth-child(n):hover{background:none;border:0}
.dn-card.dn-card th,.dn-card.dn-card td{padding:2px 14px 2px 0;border:0;border-bottom:1px solid var(--dn-thin);
text-align:right;vertical-align:middle;white-space:nowrap;line-height:1.5;font-variant-numeric:tabular-nums;max-width:none}
.dn-card.dn-card th:last-child,.dn-card.dn-card td:last-child{padding-right:0}
.dn-card.dn-card thead th{font-weight:400;opacity:.7;border-color:var(--dn-line)}
.dn-card.dn-card tbody tr:last-child>*{border-bottom:0}
.dn-card.dn-card .dn-text{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:7em;max-width:30em;
font-weight:400}
.dn-card.dn-card .dn-facts .dn-text{max-width:56em}
.dn-card.dn-card .dn-facts th{text-align:left;vertical-align:top;font-weight:400;opacity:.7}
.dn-card.dn-card .dn-best th,.dn-card.dn-card .dn-best td{font-weight:600}
.dn-card.dn-card .dn-note{width:0;min-width:100%;opacity:.8;margin:2px 0 0;font-size:12px}
.dn-card.dn-card svg{display:inline-block;vertical-align:middle;max-width:none}
.dn-card.dn-card .dn-track{stroke:var(--dn-line);stroke-width:1}
.dn-card.dn-card .dn-span{stroke:var(--dn-bar);stroke-width:5;stroke-linecap:round;opacity:.45}
.dn-card.dn-card .dn-dot{fill:var(--dn-bar)}
""".replace("\n", "").replace("BAR", BAR)
