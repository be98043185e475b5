/** Renders a tree for Hermes: YAML, front matter on every skill, and a manifest and permission for every plug-in. */
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
    // Otherwise it copies its own skills into the tree on the first start.
    'hermes/.no-bundled-skills': '',
    ...files,
    ...headed({ layout }, draft),
    ...Object.fromEntries(plugins.map((name) => [`hermes/plugins/${name}/plugin.yaml`, printYaml({ name, version: '1.0.0' })])),
  }
}

/** Hermes loads user plug-ins only by name, and lets them replace tools only with permission. */
function withPlugins(settings: JsonObject, names: readonly string[]): JsonObject {
  if (names.length === 0) return settings
  const entries = Object.fromEntries(names.map((name) => [name, { allow_tool_override: true }]))
  return { ...settings, plugins: { enabled: names, entries } }
}

/** YAML 1.1, as Python reads it: there a bare `on` or `no` is a boolean. */
const printYaml = (value: Json): string =>
  stringify(value, { version: '1.1', lineWidth: 0, sortMapEntries: true, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' })
