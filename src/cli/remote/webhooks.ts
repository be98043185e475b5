/** `svc webhooks retry`: has sent again what targets of webhooks refused. */
import { counted } from '../../presentation/index.ts'
import { jsonText } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { withService } from './service.ts'

export function retry(options: RemoteOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async ({ svc, command }) => {
    const setAside = await svc.retryWebhooks()
    if (options.json === true) surroundings.out(jsonText({ set_aside: setAside }, 2))
    else if (setAside === 0) surroundings.out('no event is set aside')
    else surroundings.out(`${counted(setAside, 'event')} sent again now; what is refused once more stays set aside: ${command('status')}`)
    return EXIT.fine
  })
}
