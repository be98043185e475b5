/** A tree as Hermes reads it: YAML, a head on every skill, and a manifest and a permission for every plug-in. */
import { stringify } from 'yaml'
import { isObject, type Draft, type Entry, type Files, type Json, type JsonObject, type Layout } from '../../../src/contract/index.ts'
import { headed, IS_FIXED, NAMES_MODEL, refuseFields, settingRefused, settingsIn, type Setting } from '../../../src/harness/index.ts'

const ROUTES = ['model', 'providers', 'custom_providers', 'fallback_model', 'fallback_providers', 'auxiliary', 'moa']
const REFUSED = new Map(ROUTES.map((field) => [field, NAMES_MODEL]))
/** By the first, commands are found; by the second, no scanner is downloaded; by the third, there is a trajectory to read. */
const FIXED = [
  ['skills', 'external_dirs'],
  ['security', 'tirith_enabled'],
  ['sessions', 'write_json_snapshots'],
] as const

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

function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    refuseFields(setting, REFUSED)
    refuseFixed(setting)
  }
}

function refuseFixed({ id, data }: Setting): void {
  for (const [section, field] of FIXED) {
    const { [section]: set = {} } = data
    if (!isObject(set)) throw settingRefused(id, section, 'it is an object')
    if (Object.hasOwn(set, field)) throw settingRefused(id, `${section}.${field}`, IS_FIXED)
  }
}

/** Hermes loads a plug-in of a person's only by name, and lets it replace a tool only by permission. */
function withPlugins(settings: JsonObject, names: readonly string[]): JsonObject {
  if (names.length === 0) return settings
  const plugins = isObject(settings['plugins']) ? settings['plugins'] : {}
  const entries = isObject(plugins['entries']) ? plugins['entries'] : {}
  const allowed = Object.fromEntries(names.map((name) => [name, { allow_tool_override: true }]))
  return {
    ...settings,
    plugins: { ...plugins, enabled: [...new Set([plugins['enabled'] ?? [], names].flat())], entries: { ...entries, ...allowed } },
  }
}

/** As YAML 1.1, which is what Python reads: there a bare `on` or `no` is no text. */
const printYaml = (value: Json): string =>
  stringify(value, { version: '1.1', lineWidth: 0, sortMapEntries: true, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' })
