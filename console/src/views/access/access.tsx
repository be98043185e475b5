/** Who may do what, who did, and who is forgotten: the tokens that were made, a person's records, and the audit. */
import { Audit } from './audit.tsx'
import { Forget } from './forget.tsx'
import { Tokens } from './tokens.tsx'
import './access.css'

export function Access() {
  return (
    <div class="stack access">
      <h1>Access</h1>
      <Tokens />
      <Forget />
      <Audit />
    </div>
  )
}
