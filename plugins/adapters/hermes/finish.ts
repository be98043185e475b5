/** A tree as Hermes reads it: YAML, a head on every skill, and a manifest and a permission for every plug-in. */
import { stringify } from 'yaml'
import type { Draft, Files, Json, JsonObject, Layout } from '../../../src/contract/index.ts'
import { headed } from '../../../src/harness/index.ts'
import { refuseForeignSettings } from './settings.ts'

export function finishHermes(layout: Layout, draft: Draft): Files {
  const { config, files, entries } = draft
  const { primary = {} } = config
  refuseForeignSettings(entries)
  const plugins = Object.keys(files).flatMap((path) => /^hermes\/plugins\/([^/]+)\//.exec(path)?.[1] ?? [])
  return {
    'hermes/config.yaml': printYaml(withPlugins(primary, plugins)),
    // Its own skills would otherwise be copied into the tree on the first start.
    'hermes/.no-bundled-skills': '',
    ...files,
    ...headed({ layout }, draft),
    ...Object.fromEntries(plugins.map((name) => [`hermes/plugins/${name}/plugin.yaml`, printYaml({ name, version: '1.0.0' })])),
  }
}

/** Hermes loads a plug-in of a person's only by name, and lets it replace a tool only by permission. */
function withPlugins(settings: JsonObject, names: readonly string[]): JsonObject {
  if (names.length === 0) return settings
  const entries = Object.fromEntries(names.map((name) => [name, { allow_tool_override: true }]))
  return { ...settings, plugins: { enabled: names, entries } }
}

/** As YAML 1.1, which is what Python reads: there a bare `on` or `no` is no text. */
const printYaml = (value: Json): string =>
  stringify(value, { version: '1.1', lineWidth: 0, sortMapEntries: true, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' })
