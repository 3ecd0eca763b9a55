/** What the year's page needs beside the console's style. */
export const YEAR_STYLE = `
main.year { max-width: 78rem; }
.year .lead { color: var(--soft); font-size: .9rem; }
.year .plot { min-width: 27rem; }
.year .plot .axis { font-size: 11px; }
.year .triple { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.year .triple .plot { min-width: 0; }
.year .triple h3 .sub { display: block; font-weight: 400; font-size: .875rem; }
.year .grid { align-items: stretch; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); }
.year .figures dd small { white-space: normal; }
.year details table { font-size: .875rem; } .year details tbody th { white-space: nowrap; }
.fill-later { fill: var(--later); }
.area { opacity: .16; } .pale { opacity: .4; } .pale .line { stroke-dasharray: 1 5; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.line-collected { stroke: var(--collected); } .line-sent { stroke: var(--sent); } .line-unpaid { stroke: var(--unpaid); }
.limit-line { stroke: var(--trouble); stroke-width: 1.5; stroke-dasharray: 5 4; }
.limit-text { fill: var(--bad); font-size: 11px; }
.verdict { display: flex; gap: 1rem; align-items: flex-start; border-left: 4px solid var(--good); }
.verdict.bad { border-left-color: var(--trouble); }
.verdict .mark { flex: none; width: 2.1rem; height: 2.1rem; }
.verdict.good .mark { color: var(--collected); } .verdict.bad .mark { color: var(--trouble); }
.verdict p { max-width: 100ch; }
.verdict h2 { font-size: 1.2rem; margin-bottom: .3rem; } .verdict p:last-child { margin: 0; }
.rules { columns: 22rem; column-gap: 2rem; padding-left: 1.2rem; margin: 0; font-size: .9rem; }
.rules li { break-inside: avoid; margin-bottom: .3rem; }
@media (max-width: 48rem) {
  .year .plot { min-width: 0; } .year .plot .axis { font-size: 13px; } .year .triple .plot .axis { font-size: 11px; }
  .verdict .mark { width: 1.5rem; height: 1.5rem; }
}
@media print {
  :root { color-scheme: light; }
  section { break-inside: avoid; box-shadow: none; } .year .plot { min-width: 0; } .scroll { overflow: visible; }
  .year .grid { grid-template-columns: 1fr 1fr; }
}
`;
