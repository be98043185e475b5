/** Shipped entries for pi; their texts are separate files. */
import { readFileSync } from 'node:fs'
import type { Adapter, Entry } from '../../../src/contract/index.ts'

const versionCheck = readFileSync(new URL('./entries/svc-version-check.mjs', import.meta.url), 'utf8')
const requests = readFileSync(new URL('./entries/svc-requests.mjs', import.meta.url), 'utf8')
const extensionApi = readFileSync(new URL('./entries/svc-pi-extension-api.md', import.meta.url), 'utf8')

export const shipped: Required<Adapter>['shipped'] = {
  version_check: [extension('svc-version-check', versionCheck)],
  requests: [
    extension('svc-requests', requests),
    { id: 'svc-pi-extension-api', name: 'skill', config: { name: 'svc-pi-extension-api', text: extensionApi } },
  ],
}

function extension(name: string, code: string): Entry {
  return { id: name, name: 'code_extension', config: { name, code } }
}
