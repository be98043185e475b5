/** `svc comment`: says something of a release that is or was held for review, and decides nothing. */
import { invalid } from '../../contract/index.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { findRelease, numberOf } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export interface CommentOptions extends RemoteOptions {
  readonly release: string
  readonly text: readonly string[]
}

export function comment(options: CommentOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const said = options.text.join(' ')
    const words = `comment ${shellWord(options.release)} ${shellWord(said)}`
    if (said.trim() === '') throw invalid('no_comment', `nothing was said; say it: svc comment ${shellWord(options.release)} "…"`)
    const scenario = await chooseScenario(service, options.scenario, (name) => `${words} --scenario ${shellWord(name)}`)
    const svc = service.in(scenario)
    const target = findRelease(await svc.releases(), options.release, service.command(`releases ${shellWord(scenario)}`))
    const head = await svc.comment(target.release_id, said)
    surroundings.out(
      options.json === true
        ? jsonText({ ...head, commented_release_id: target.release_id }, 2)
        : `the comment stands with ${numberOf(target)} of ${oneLine(scenario)}; nothing else changed`,
    )
    return EXIT.fine
  })
}
