/** The one style sheet of the pages, and its hash for the content security policy. */
import { hash } from 'node:crypto'

const PALETTE = `
:root{color-scheme:light dark;
--paper:#f6f2ea;--card:#fffdf9;--sunk:#f3eee4;--line:#e0d7c8;--ink:#231d17;--soft:#665b4e;--accent:#a3371f;
--good:#256339;--good-tint:#e2f0e3;--good-mark:#b4dcb9;--warn:#7a4f00;--warn-tint:#faedcf;--bad:#9f2a1d;--bad-tint:#fae5e0;--bad-mark:#f3bfb5}
@media (prefers-color-scheme:dark){:root{
--paper:#15120e;--card:#1e1a15;--sunk:#16130f;--line:#3b342a;--ink:#ece4d8;--soft:#b3a797;--accent:#f2957d;
--good:#8ccd9a;--good-tint:#1b2d20;--good-mark:#2f5f3b;--warn:#e8bd66;--warn-tint:#32270f;--bad:#f6a093;--bad-tint:#3a201b;--bad-mark:#77342a}}
.good{--tone:var(--good);--tint:var(--good-tint)}
.warn{--tone:var(--warn);--tint:var(--warn-tint)}
.bad{--tone:var(--bad);--tint:var(--bad-tint)}
.plain,.busy{--tone:var(--soft);--tint:var(--sunk)}
.busy{--tone:var(--accent)}
`

const FRAME = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;background:var(--paper);color:var(--ink)}
body{margin:0 auto;max-width:1104px;padding:0 32px;font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
body.broad{max-width:1264px}
a{color:var(--accent);text-underline-offset:.2em;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:2px solid var(--accent);outline-offset:3px;border-radius:4px}
p,ul,ol,dl,dd,figure,blockquote,pre{margin:0;padding:0}
ul,ol{list-style:none}
h1,h2,h3{margin:0;line-height:1.2;text-wrap:balance}
code,pre,.clock,.diff{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.86em;font-variant-ligatures:none}
pre code{font-size:1em}
i{font:600 .72em/1 ui-monospace,monospace;padding:.15em .35em;margin:0 .1em;border-radius:4px;background:var(--bad-tint);color:var(--bad);border:1px solid currentColor}
.skip{position:absolute;left:-999px;top:8px;padding:8px 14px;background:var(--card);border:1px solid var(--line);border-radius:8px}
.skip:focus{left:16px}
.quiet{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
header{display:flex;align-items:center;justify-content:space-between;gap:8px 24px;flex-wrap:wrap;padding:20px 0;border-bottom:1px solid var(--line);font-size:.9rem}
header nav{display:flex;align-items:center;gap:14px}
header ol{display:flex}
header li+li::before{content:"/";margin:0 .6em;color:var(--soft)}
header li:last-child{color:var(--soft)}
header li a{color:inherit;font-weight:600}
.logo{display:inline-flex;color:var(--accent);padding-right:14px;border-right:1px solid var(--line)}
.logo svg{fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round}
.scenario{color:var(--soft)}
.scenario b{color:var(--ink);font-weight:600}
.hero{display:flex;justify-content:space-between;align-items:flex-start;gap:20px 32px;flex-wrap:wrap;padding:44px 0 28px}
.hero>div{flex:1 1 24rem;min-width:0}
.eyebrow{color:var(--accent);font-size:.75rem;font-weight:650;letter-spacing:.09em;text-transform:uppercase}
h1{margin:.2em 0 .35em;font-size:clamp(1.9rem,1.3rem + 2.4vw,2.9rem);font-weight:680;letter-spacing:-.025em}
.sub{display:flex;flex-wrap:wrap;align-items:center;gap:4px 16px;color:var(--soft);font-size:.9rem}
.sub code{color:var(--ink)}
.lead{margin-top:14px;font-size:1.1rem}
.lead b{font-weight:640}
ul.lead{padding-left:1.2em;font-size:1rem}
.chip{padding:1px 10px;border-radius:99px;background:var(--good-tint);color:var(--good);font-size:.8rem;font-weight:600}
.pill{display:inline-block;padding:6px 16px 6px 13px;border-radius:99px;background:var(--tint);color:var(--tone);font-size:.92rem;font-weight:620;border:1px solid color-mix(in srgb,var(--tone) 25%,transparent)}
.pill::before{content:"";display:inline-block;width:8px;height:8px;margin-right:9px;border-radius:50%;background:currentColor;vertical-align:.08em}
.busy::before{animation:pulse 1.6s ease-in-out infinite}
@keyframes pulse{50%{opacity:.25}}
@media (prefers-reduced-motion:reduce){.busy::before{animation:none}}
footer{padding:8px 0 48px;color:var(--soft);font-size:.82rem}
`

const CARDS = `
.card{margin:0 0 20px;padding:28px;background:var(--card);border:1px solid var(--line);border-radius:12px;min-width:0}
.card>*+*{margin-top:16px}
h2{font-size:1.15rem;font-weight:660;letter-spacing:-.01em}
h3{font-size:.95rem;font-weight:640}
.cut,dt,.kind{color:var(--soft);font-size:.88rem}
.cut b{font-weight:600}
.prose,.text{white-space:pre-wrap;unicode-bidi:plaintext}
blockquote{padding:2px 0 2px 18px;border-left:3px solid var(--accent);font-size:1.05rem}
.box,.summary{padding:14px 18px;border-radius:8px;background:var(--tint)}
.box h3,.summary b{color:var(--tone)}
.box h3{margin-bottom:6px}
.numbers{display:grid;grid-template-columns:repeat(auto-fill,minmax(128px,1fr));overflow:hidden;border:1px solid var(--line);border-radius:8px}
.numbers div{display:flex;flex-direction:column-reverse;justify-content:flex-end;margin:0 -1px -1px 0;padding:12px 14px;border:1px solid var(--line);border-width:0 1px 1px 0}
.numbers dt{font-size:.8rem}
.numbers dd{font-size:1.35rem;font-weight:620;letter-spacing:-.01em;font-variant-numeric:tabular-nums}
.facts{display:grid;gap:8px}
.facts div{display:grid;grid-template-columns:minmax(110px,180px) minmax(0,1fr);gap:0 16px}
summary{width:fit-content;cursor:pointer;color:var(--soft);font-size:.9rem;font-weight:600}
details[open] summary{margin-bottom:12px}
details h3{margin:16px 0 8px}
.walk{display:flex;justify-content:space-between;gap:12px;margin-bottom:20px;padding:10px 18px;border:1px solid var(--line);border-radius:12px;font-size:.9rem;color:var(--soft)}
.walk>:first-child::before{content:"\\2190\\a0"}
.walk>:last-child::after{content:"\\a0\\2192"}
.points li,.needs li,.episodes li,.chain li{padding:9px 0;border-top:1px solid var(--line)}
section>ul:last-child>li:last-child,section>ol:last-child>li:last-child{padding-bottom:0}
.points li{padding-left:26px;position:relative}
.points li::before{position:absolute;left:2px;color:var(--good);content:"\\2713";font-weight:700}
.points.no li::before{color:var(--warn);content:"\\2013"}
h3+ul{margin-top:8px!important}
.needs .kind,.change .kind,.activity .kind{padding:0 8px;border:1px solid var(--line);border-radius:99px;font-size:.78rem;font-weight:500}
.kind:has(bdi:empty){display:none}
.scores{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
.scores th,.scores td{padding:7px 12px 7px 0;border-top:1px solid var(--line);text-align:left}
.scores thead th{border-top:0;color:var(--soft);font-size:.85rem;font-weight:600}
.scores td:last-child{color:var(--tone)}
.episodes li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 16px}
.episodes p{grid-column:1/-1}
.chain li{display:flex;flex-wrap:wrap;gap:0 12px;align-items:baseline}
.chain li>span:first-child{flex:0 0 9.5rem;color:var(--soft);font-size:.88rem}
.chain .this{font-weight:600}
`

const CHANGES = `
.change+.change{margin-top:28px;padding-top:24px;border-top:1px solid var(--line)}
.change h3{display:flex;flex-wrap:wrap;align-items:center;gap:6px 10px;font-weight:600}
.change h3~*{margin-top:12px}
.tag{padding:1px 9px;border-radius:6px;background:var(--tint);color:var(--tone);font-size:.8rem;font-weight:650}
.text,.code,.json,.diff,.command{padding:14px 16px;border:1px solid var(--line);border-radius:8px;background:var(--sunk)}
.code,.command{overflow-x:auto;overflow-wrap:normal;white-space:pre;tab-size:2}
.command{white-space:pre-wrap;overflow-wrap:anywhere}
.json{white-space:pre-wrap;color:var(--soft)}
.text>b,.code b,.json>b,.diff b{display:block;padding:6px 0;color:var(--soft);font:500 .82rem/1.4 system-ui,sans-serif}
.text del{color:var(--soft)}
.diff{padding:10px 0;line-height:1.6}
.diff span,.diff del,.diff ins{display:block;min-height:1.6em;padding:0 16px 0 calc(16px + 2ch);text-indent:-2ch;white-space:pre-wrap;text-decoration:none;unicode-bidi:plaintext}
.diff b{padding:4px 16px;text-align:center}
.diff del{background:var(--bad-tint);box-shadow:inset 3px 0 var(--bad)}
.diff ins{background:var(--good-tint);box-shadow:inset 3px 0 var(--good)}
mark{border-radius:3px;color:inherit;background:var(--bad-mark)}
ins mark{background:var(--good-mark)}
.evidence{padding-top:20px;border-top:1px solid var(--line)}
.evidence>*+*{margin-top:14px}
figcaption{margin-bottom:6px;font-size:.9rem;color:var(--soft)}
figcaption b{margin-right:6px;color:var(--ink)}
figure svg{display:block;width:100%;border-radius:6px;background:var(--sunk)}
.pairs{height:64px}
.bar{height:28px}
.scale{display:flex;justify-content:space-between;font-size:.78rem;color:var(--soft);font-variant-numeric:tabular-nums}
.win{fill:var(--good)}.loss{fill:var(--bad)}.tie{fill:var(--soft)}
.band{opacity:.55}
.axis{fill:var(--line)}.zero{fill:var(--soft)}.mean{fill:var(--ink)}.limit{fill:var(--accent)}
`

const REQUESTS = `
.stages{display:grid;grid-template-columns:repeat(4,1fr);margin-bottom:24px;font-size:.88rem;color:var(--soft)}
.stages li{position:relative;padding-top:30px;text-align:center}
.stages li::before{position:absolute;top:0;left:calc(50% - 11px);z-index:1;width:22px;height:22px;border:2px solid var(--line);border-radius:50%;background:var(--card);content:"";font-size:.75rem;line-height:18px;font-weight:700}
.stages li+li::after{position:absolute;top:10px;right:50%;width:100%;height:2px;background:var(--line);content:""}
.stages .done::before{border-color:var(--good);background:var(--good);color:var(--card);content:"\\2713"}
.stages .done+li::after{background:var(--good)}
.stages [aria-current]{color:var(--ink);font-weight:640}
.stages [aria-current]:not(.done)::before{border-color:var(--accent);box-shadow:inset 0 0 0 4px var(--card);background:var(--accent)}
.next{padding-top:18px;border-top:1px solid var(--line)}
.next>*+*{margin-top:10px}
.side .facts div{grid-template-columns:minmax(0,1fr)}
.activity li{display:grid;grid-template-columns:4.5rem 6rem minmax(0,1fr);gap:0 12px;align-items:baseline;padding:8px 0;border-top:1px solid var(--line);font-size:.92rem}
.activity .kind{justify-self:start}
.clock{color:var(--soft)}
.failed b{color:var(--bad)}
@media (min-width:900px){
.columns{display:grid;grid-template-columns:minmax(0,1fr) 360px;grid-template-rows:auto 1fr;gap:0 20px;align-items:start}
.side{grid-column:2;grid-row:1/3}
.diff>div{display:grid;grid-template-columns:1fr 1fr;grid-auto-flow:dense;gap:0 1px}
.diff del{grid-column:1}.diff ins{grid-column:2}
.rest .diff>div{display:block}
.both{display:grid;grid-template-columns:1fr 1fr;gap:0 20px}
}
@media (max-width:800px){body{padding:0 20px}.hero{padding:32px 0 22px}.card{padding:22px}}
@media (max-width:480px){
body{padding:0 14px}.card{padding:18px 16px}.facts div{grid-template-columns:minmax(0,1fr)}
.stages{font-size:.76rem}.activity li{grid-template-columns:4rem minmax(0,1fr)}.activity li>:last-child{grid-column:1/-1}
.chain li>span:first-child{flex-basis:100%}.numbers{grid-template-columns:1fr 1fr}
}
`

export const STYLE = [PALETTE, FRAME, CARDS, CHANGES, REQUESTS].join('')

export const STYLE_HASH = `sha256-${hash('sha256', STYLE, 'base64')}`
