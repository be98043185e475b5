/** A tree as Hermes reads it: YAML, a head on every skill, and a manifest and a permission for every plug-in. */
import { basename, dirname } from 'node:path'
import { stringify } from 'yaml'
import { invalid, isObject, type Draft, type Entry, type Files, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { withFrontMatter } from '../../../src/harness/index.ts'

/** Which model is asked, and where, is for the service to say. */
const ROUTES = ['model', 'providers', 'custom_providers', 'fallback_model', 'fallback_providers', 'auxiliary', 'moa']

export function finishHermes({ config, files, entries }: Draft): Files {
  const { primary = {} } = config
  refuseForeignSettings(primary, entries)
  const plugins = Object.keys(files).flatMap((path) => /^hermes\/plugins\/([^/]+)\//.exec(path)?.[1] ?? [])
  return {
    'hermes/config.yaml': printYaml(withPlugins(primary, plugins)),
    // Its own skills would otherwise be copied into the tree on the first start.
    'hermes/.no-bundled-skills': '',
    ...headed(files),
    ...Object.fromEntries(plugins.map((name) => [`hermes/plugins/${name}/plugin.yaml`, printYaml({ name, version: '1.0.0' })])),
  }
}

function refuseForeignSettings(merged: JsonObject, entries: readonly Entry[]): void {
  for (const { id, config } of entries.filter(({ name }) => name === 'config')) {
    const data = isObject(config['data']) ? config['data'] : {}
    const field =
      at(data, 'skills', 'external_dirs') === undefined ? ROUTES.find((key) => Object.hasOwn(data, key)) : 'skills.external_dirs'
    if (field !== undefined) throw invalid('setting_refused', `${id}: config.data.${field} is set by the service; leave it out`)
  }
  if (at(merged, 'skills', 'external_dirs') === undefined)
    throw invalid('setting_refused', 'config.data.skills must stay an object: commands are found by it')
  if (at(merged, 'security', 'tirith_enabled') !== false)
    throw invalid('setting_refused', 'config.data.security.tirith_enabled must stay false: a scanner would be downloaded')
  if (at(merged, 'sessions', 'write_json_snapshots') !== true)
    throw invalid('setting_refused', 'config.data.sessions.write_json_snapshots must stay true: the trajectory is read from them')
}

function at(object: JsonObject, section: string, key: string): Json | undefined {
  const found = object[section]
  return isObject(found) ? found[key] : undefined
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

const headed = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, path.endsWith('/SKILL.md') ? withFrontMatter(basename(dirname(path)), text) : text]),
  )
