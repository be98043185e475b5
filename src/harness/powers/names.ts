/**
 * The powers of names. A person types a name and means what their agent or shell has under it, so a name that is taken `runs` in its place; one
 * that may look like another is `hidden`.
 */
import type { Adapter, Entry, PowerReason } from '../../contract/index.ts'
import { inflectionsOf } from '../prose/forms.ts'
import { entryOf, folded, type EntryPair } from './change.ts'

export function nameReasons({ binary, shipped }: Adapter, change: EntryPair): readonly PowerReason[] {
  const { id, config } = entryOf(change)
  const ours = [...(shipped?.requests ?? []), ...(shipped?.version_check ?? [])].filter((entry) => entry.id !== id)
  const taken = new Set([binary, ...ours.map((entry) => entry.config['name'])].filter((name) => typeof name === 'string').map(folded))
  const { name } = config
  return [
    ...(typeof name === 'string' && taken.has(folded(name)) ? [runs(id, `it takes the name ${name}, which the service ships`)] : []),
    ...(typeof name === 'string' && isCommon(name) ? [runs(id, `it takes the name ${name}, which agents or shells have themselves`)] : []),
    ...(wordsFor(entryOf(change)).every((each) => PLAIN_NAME.test(each))
      ? []
      : [{ power: 'hidden', entry: id, why: 'its name may look like another' } as const]),
  ]
}

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** A person who reviews a change, or calls a skill, takes two such ids or names for one. */
export function likeReasons(after: readonly Entry[], changes: readonly EntryPair[]): readonly PowerReason[] {
  const words = after.flatMap((entry) => wordsFor(entry).map((word) => ({ id: entry.id, word })))
  const groups = Map.groupBy(words, ({ word }) => alike(word))
  return changes.flatMap(({ after: now }) =>
    (now === null ? [] : wordsFor(now)).flatMap((word): PowerReason[] => {
      const other = groups.get(alike(word))?.find((each) => each.id !== now?.id && each.word !== word)
      return now === null || other === undefined ? [] : [{ power: 'hidden', entry: now.id, why: `${word} looks like ${other.word}` }]
    }),
  )
}

const wordsFor = ({ id, config: { name } }: Entry): readonly string[] => (typeof name === 'string' ? [id, name] : [id])

const LOOKALIKES: Readonly<Record<string, string>> = { '0': 'o', '1': 'l', i: 'l', rn: 'm', vv: 'w', _: '-', '.': '-' }
const alike = (id: string): string =>
  folded(id)
    .replaceAll(/rn|vv|[01i_.]/g, (sign) => LOOKALIKES[sign] ?? sign)
    .replace(/(?<!-)-+$/, '')

const runs = (entry: string, why: string): PowerReason => ({ power: 'runs', entry, why })

/** Signs between letters, an ending and a number do not make another name of it. */
function isCommon(name: string): boolean {
  const bare = folded(name).replaceAll(/[^a-z]/g, '')
  return inflectionsOf(bare).some((form) => COMMON.has(form)) || folded(name).startsWith('svc')
}

/** Names that the eight agents answer to, their tools, and words that people type in a shell. test/agents holds them against the pinned programs. */
const COMMON: ReadonlySet<string> = new Set(
  `abort accept account add adddir agent allow app apply approval approve ask attach audit auth autocompact automodesetup background bash
  batch billing branch browser claudeapi color croncreate crondelete creategoal cronlist dataviz deepresearch deferredtoolplaceholder design designconsent designrevoke designsync enterworktree execcommand exitworktree
  explore fewerpermissionprompt find focus generalpurpose getgoal heapdump hotkey listagent monitor multiagentv name notebookedit pluginauthoring question
  recap reloadplugin reloadskill remoteworkflow reportfinding requestuserinput runskillgenerator schedulewakeup scopedmodel sendmessage
  simplify spawnagent statuslinesetup taskstop teamonboarding todoread todowrite toolsearch tree trust updateconfig updategoal updateplan viewimage
  waitagent workflowauthoring workflowlaunchexec writestdin
  bug build cancel cat cd changelog chat checkout checkpoint chmod ci clean clear clone cmd codereview command commit compact config
  configure connect console context continue copy cost cp create curl debug default delete deny deploy diff discard docker doctor edit
  editor effort env eval exec exit export extension fast feedback fetch fix fork gh git glob goal grep help history hook ide import init
  insight install issue job kill lint load login logout logs loop ls mcp memory merge migrate mkdir mode model mv new node notify npm
  npx off on open outputstyle pay permission personality pip plan plugin pnpm powershell pr prcomment precommit preferences
  privacysetting profile prompt provider ps publish pull pullrequest push pwd python quit ralph read rebase redo refactor refresh
  release reload remember remote rename reset restart restore resume retry revert review rewind rm rollback root run sandbox save
  schedule scp script search securityreview send session set setting setup sh share shell ship sidebar skill ssh stash start stats
  status statusline stop subagent submit sudo summarize switch sync system systemprompt task teleport template terminal terminalsetup
  test theme think todo token tool toolset undo uninstall unshare update upgrade upload usage verbose verify version vim vi view voice
  web webfetch websearch wget whoami workflow worktree write yarn yes yolo zsh`.split(/\s+/),
)
