/** What an install script brings to a machine: a release's files, and beside them those that tell the agent where its model is. */
import { randomBytes } from 'node:crypto'
import type { Installation, InstallStart } from '@svc-ai/agent/installation'
import { invalid, type Adapter, type Files, type ModelAddress, type Requires } from '../../contract/index.ts'
import { renderTree } from '../render.ts'
import { entriesIn, pulledFiles } from '../tree.ts'

export interface InstallDelivery {
  readonly adapter: Adapter
  /** The address at which the person reached the service. */
  readonly url: string
  readonly scenario: string
  readonly release_id: string
  readonly content_id: string
  readonly content: Files
  readonly model: ModelAddress
  readonly requires: readonly Requires[]
  readonly fallback_release_id: string | null
}

export function installationOf({ adapter, content, model, ...delivery }: InstallDelivery): Installation {
  const { name, binary, install, client } = adapter
  if (binary === undefined || install === undefined || client === undefined) throw withoutInstall()
  const placeholders = makePlaceholders()
  const files = pulledFiles(content)
  const bound = renderTree(adapter, entriesIn(adapter, content), { ...model, url: placeholders.url, apiKey: placeholders.token })
  const binding = Object.entries(bound).filter(([path, text]) => files[path] !== text)
  return {
    ...delivery,
    adapter: name,
    binary,
    files,
    binding: Object.fromEntries(binding),
    harness_paths: harnessPaths(adapter),
    placeholders,
    install,
    client,
  }
}

/** What a script brings that was asked for without a scenario. */
export function startOf(
  { name, binary, install }: Adapter,
  { url, recipe, scenario }: Pick<InstallStart, 'url' | 'recipe' | 'scenario'>,
): InstallStart {
  if (binary === undefined || install === undefined) throw withoutInstall()
  const { version, node_least } = install
  return { adapter: name, binary, url, recipe, scenario, install: { version, ...(node_least !== undefined && { node_least }) } }
}

/** What a session leaves there would be loaded by the next one, and belong to no release. */
function harnessPaths({ layout: { config, rules, named } }: Adapter): readonly string[] {
  const folders = Object.values(named).map((template) => template.slice(0, template.lastIndexOf('/', template.indexOf('{name}')) + 1))
  const files = [...Object.values(config).map(({ path }) => path), ...(rules === undefined ? [] : [rules])]
  return [...new Set([...files, ...folders.filter((folder) => folder !== '')])]
}

export const withoutInstall = (): Error =>
  invalid(
    'adapter_without_install',
    'adapter: pins no program to install; pull its files with GET /svc/harness, and ask for changes with POST /svc/train',
  )

/** They cannot be guessed: a tree that held one would have the person's token written where it pleases. */
function makePlaceholders(): Installation['placeholders'] {
  const mark = randomBytes(12).toString('hex')
  return { url: `http://url-${mark}.invalid`, token: `token-${mark}` }
}
