/** The line that a person pastes to install a harness. It carries the fingerprint of the deployment's key. */
import { INSTALL_ROUTE, KEY_VARIABLE, TOKEN_VARIABLE } from '../names.ts'

export interface InstallLineOrder {
  readonly url: string
  readonly adapter: string
  readonly key: string
  readonly hasToken: boolean
}

/** `env` sets the variable in every shell, also in those that know no assignment before a command. */
export const installLine = (order: InstallLineOrder): string => `${curl(order)} | env ${KEY_VARIABLE}=${order.key} sh`

/**
 * The same, checked before a shell runs any of it. A script that is piped into a shell can ignore every variable; this program is part of the
 * line, so a service that lies cannot leave it out.
 */
export const checkedInstallLine = (order: InstallLineOrder): string =>
  `${curl(order)} | node -e '${CHECK}' ${order.key} | env ${KEY_VARIABLE}=${order.key} sh`

function curl({ url, adapter, hasToken }: InstallLineOrder): string {
  const token = hasToken ? ` -H "authorization: Bearer $${TOKEN_VARIABLE}"` : ''
  return `curl -sS${token} '${url}${INSTALL_ROUTE}?${new URLSearchParams({ adapter }).toString()}'`
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
