/** Asks for a change in plain words, and follows what becomes of it. */
import { usePolled } from '../../poll.ts'
import { go, placeIn } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Command } from '../../ui/command.tsx'
import { Notice } from '../../ui/notice.tsx'
import { AskBox } from './ask-box.tsx'
import { AskFollow } from './ask-follow.tsx'
import { AskList } from './ask-list.tsx'
import { modeCommand } from '../../data/commands.ts'
import { takesRequests } from '../../data/requests.ts'
import { useChain } from '../../data/use-chain.ts'
import './ask.css'

const STATUS_SECONDS = 5

/** `id` is the request that is followed. */
export function Ask({ scenario, id }: { readonly scenario: string; readonly id: string | null }) {
  const { value: chain, said, refresh } = useChain(scenario)
  const { value: status } = usePolled('status', (service) => service().status(), STATUS_SECONDS)
  const follow = (request: string): void => go(placeIn(scenario, 'ask', request))
  const takes = takesRequests(status, scenario)
  return (
    <div class="stack ask">
      <h1>Ask for a change</h1>
      <Notice said={said} />
      {takes === 'after a switch' && <Switch scenario={scenario} />}
      {takes === 'never' && (
        <p class="notice warn">
          The recipe of this scenario learns nothing, so it takes no requests. Create a scenario with a recipe that does, such as harness.
        </p>
      )}
      {takes === 'yes' && chain !== null && chain.head !== null && <AskBox scenario={scenario} head={chain.head} sent={follow} />}
      {id !== null && chain !== null && <AskFollow key={id} scenario={scenario} id={id} chain={chain} settled={refresh} />}
      {chain !== null && <AskList scenario={scenario} chain={chain} followed={id} />}
    </div>
  )
}

function Switch({ scenario }: { readonly scenario: string }) {
  const { token } = useSession()
  return (
    <div class="notice warn stack tight">
      <p>
        This scenario is in mode auto: it learns from traffic alone and takes no requests. Switch it to hybrid, which takes both; this page
        goes on by itself.
      </p>
      <Command line={modeCommand(location.origin, scenario, 'hybrid', token !== null)} />
    </div>
  )
}
