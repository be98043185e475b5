/** The line that a person pastes to install a harness. It carries the fingerprint of the deployment's key, and never the token. */
import { INSTALL_ROUTE, KEY_VARIABLE, SCENARIO_HEADER } from '../names.ts'
import { isSafeWay } from '../place.ts'
import { curlLine, pasted, quoted } from '../shell.ts'

export interface InstallLineOrder {
  readonly url: string
  readonly adapter: string
  readonly key: string
  readonly hasToken: boolean
  /** Absent where the script makes a scenario of its own. */
  readonly scenario?: string
  readonly release?: string
  /** Where to install, and the place of the agent's program. */
  readonly args?: readonly string[]
}

/** The short line where the way says who answers; where somebody may change what passes, the one that checks it. */
export const safeInstallLine = (order: InstallLineOrder): string => (isSafeWay(order.url) ? installLine : checkedInstallLine)(order)

/** `env` sets the variable in every shell, also in those that know no assignment before a command. */
export const installLine = (order: InstallLineOrder): string => `${fetched(order)} | ${run(order)}`

/**
 * The same, checked before a shell runs any of it. A script that is piped into a shell can ignore every variable; this program is part of the
 * line, so a service that lies cannot leave it out.
 */
export const checkedInstallLine = (order: InstallLineOrder): string => `${fetched(order)} | node -e '${CHECK}' ${order.key} | ${run(order)}`

function fetched({ url, adapter, hasToken, scenario, release }: InstallLineOrder): string {
  const query = new URLSearchParams({ adapter, ...(release !== undefined && { release_id: release }) })
  const named = scenario === undefined ? '' : `-H ${pasted(`${SCENARIO_HEADER}: ${scenario}`)} `
  return curlLine(`${named}${quoted(`${url}${INSTALL_ROUTE}?${query.toString()}`)}`, hasToken)
}

function run({ key, args = [] }: InstallLineOrder): string {
  const rest = args.length === 0 ? '' : ` -s -- ${args.map(pasted).join(' ')}`
  return `env ${KEY_VARIABLE}=${key} sh${rest}`
}

/** Without single quotes and exclamation marks, which no shell reads alike. */
const CHECK = [
  'const c=require("crypto"),s=require("fs").readFileSync(0,"utf8"),m=/^([^]*\\n)# svc-signed ([\\w-]+)\\n$/.exec(s),f=process.argv[1];',
  'let ok=0;try{const g=JSON.parse(Buffer.from(m[2],"base64url")),t=JSON.parse(g.statement),k=Buffer.from(t.key,"base64url"),',
  'h=(x,e)=>c.createHash("sha256").update(x).digest(e);ok=t.kind=="script"&&"ed25519:"+h(k,"base64url")==f&&t.sha256==h(m[1],"hex")&&',
  'c.verify(null,Buffer.from("svc-signed-1\\n"+g.statement),{key:{kty:"OKP",crv:"Ed25519",x:t.key},format:"jwk"},',
  'Buffer.from(g.signature,"base64url"))}catch(e){}',
  'console.log(ok?s:"echo svc: this script is not signed by "+f+", nothing of it was run >&2; exit 1")',
].join('')
