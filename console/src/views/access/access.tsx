/** Who may do what, and who did: the tokens that were made, and the audit. */
import { Audit } from './audit.tsx'
import { Tokens } from './tokens.tsx'
import './access.css'

export function Access() {
  return (
    <div class="stack access">
      <h1>Access</h1>
      <Tokens />
      <Audit />
    </div>
  )
}
