/** Writes every generated page. A page is stale when it differs from what its generator answers. */
import { globSync, readFileSync } from 'node:fs'
import { configReference } from '../src/config/index.ts'
import { writeAtomicFile } from '../src/kit/index.ts'
import { SECURITY_PAGE, securityPage } from '../test/attacks/page.ts'
import { CONFORMANCE_PAGE, conformancePage } from '../test/spec/conformance.ts'
import { LLMS_PAGE, llmsPage } from './llms.ts'
import { SIGNATURES_PAGE, signaturesPage, withSignatures } from './signatures.ts'
import { WIRE_TYPES, wireTypes } from './wire-types.ts'

const PAGES: readonly { readonly path: string; readonly make: () => string }[] = [
  { path: 'docs/configuration.md', make: configReference },
  { path: WIRE_TYPES, make: wireTypes },
  { path: CONFORMANCE_PAGE, make: conformancePage },
  { path: SECURITY_PAGE, make: securityPage },
  { path: SIGNATURES_PAGE, make: signaturesPage },
  ...globSync('docs/extend/*.md')
    .filter((path) => path !== SIGNATURES_PAGE)
    .map((path) => ({ path, make: () => withSignatures(readFileSync(path, 'utf8'), path) })),
  // After the pages it quotes.
  { path: LLMS_PAGE, make: llmsPage },
]

for (const { path, make } of PAGES) {
  await writeAtomicFile(path, make())
  console.log(`wrote ${path}`)
}
