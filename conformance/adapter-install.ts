/** Adapter conformance for installing: names that are safe in a shell, and bindings whose values can be filled in. */
import assert from 'node:assert/strict'
import { MODEL_APIS, pathProblem, RESERVED_ENTRIES, type Adapter, type Files, type ModelApi } from '../src/contract/index.ts'
import { renderTree } from '../src/harness/index.ts'
import type { AdapterSuite } from './support.ts'

const URL_TO_FILL_IN = 'url-to-fill-in'
const KEY_TO_FILL_IN = 'key-to-fill-in'

export function describeInstalling({ it, adapter, entries }: AdapterSuite): void {
  const { install, client, shipped } = adapter
  it('how it is installed and how a session runs come together or not at all', async () => {
    assert.equal(install === undefined, client === undefined)
  })
  it('what lands in a command line has no character that a shell reads', async () => {
    if (install === undefined) return
    assert.match(install.package, /^[A-Za-z0-9@._/-]+$/, 'install.package')
    for (const text of [install.version, install.ref ?? '0', install.node_least ?? '0']) assert.match(text, /^[A-Za-z0-9._-]+$/)
    assert.equal(pathProblem(install.binary_path), null, 'install.binary_path must stay below the prefix')
  })
  it('an install from git says where from, over https, and at which tag', async () => {
    if (install?.manager !== 'git') return
    assert.match(install.repository ?? '', /^https:\/\/[A-Za-z0-9._/-]+$/, 'install.repository')
    assert.notEqual(install.ref ?? '', '', 'install.ref')
  })
  it('what a session sets and keeps is named as shells and stores name it', async () => {
    if (client === undefined) return
    for (const name of [...Object.keys(client.env), ...Object.keys(client.env_defaults)]) assert.match(name, /^[A-Za-z_][A-Za-z0-9_]*$/)
    for (const path of client.state) assert.equal(pathProblem(path.replace(/\/$/, '')), null, path)
    for (const tool of client.tools) assert.match(`${tool.command} ${tool.package}`, /^[A-Za-z0-9._-]+ [A-Za-z0-9@._/-]+$/)
  })
  it('address and key stand inside quoted strings, so that whatever is filled in for them stays one value', async () => {
    if (install === undefined) return
    for (const api of apisOf(adapter))
      assertQuoted(renderTree(adapter, entries, { url: URL_TO_FILL_IN, model: 'm', api, apiKey: KEY_TO_FILL_IN }))
  })
  it('entries that the service ships have ids of theirs alone, and render in a person’s tree', async () => {
    const ships = [...(shipped?.version_check ?? []), ...(shipped?.requests ?? [])]
    const ids = ships.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length, `an id is shipped twice: ${ids.join(', ')}`)
    for (const id of ids)
      assert.ok(
        RESERVED_ENTRIES.some((reserved) => reserved === id),
        `${id} is no reserved id`,
      )
    renderTree(adapter, [...entries, ...ships])
  })
}

/** The APIs that it has bindings for. */
export function apisOf({ bindings }: Adapter): readonly ModelApi[] {
  return MODEL_APIS.filter((api) => bindings[api] !== undefined)
}

/** An odd number of quotes precedes each value on its line. */
function assertQuoted(files: Files): void {
  for (const [path, text] of Object.entries(files))
    for (const line of text.split('\n'))
      for (const value of [URL_TO_FILL_IN, KEY_TO_FILL_IN].filter((each) => line.includes(each))) {
        const before = line.slice(0, line.indexOf(value)).replaceAll(/\\./g, '')
        assert.equal((before.split('"').length - 1) % 2, 1, `${path}: ${value} is not inside a double-quoted string`)
      }
}
