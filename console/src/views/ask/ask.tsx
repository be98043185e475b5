/** Asks for a change in plain words, and follows what becomes of it. */
import { usePolled } from '../../poll.ts'
import { go, placeIn } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Done } from '../../ui/done.tsx'
import { Notice } from '../../ui/notice.tsx'
import { AskBox } from './ask-box.tsx'
import { AskFollow } from './ask-follow.tsx'
import { AskList } from './ask-list.tsx'
import { takesRequests } from '../../data/requests.ts'
import { useAction } from '../../data/use-action.ts'
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
      {id !== null && chain !== null && <AskFollow key={id} scenario={scenario} id={id} chain={chain} settled={() => void refresh()} />}
      {chain !== null && <AskList scenario={scenario} chain={chain} followed={id} />}
    </div>
  )
}

function Switch({ scenario }: { readonly scenario: string }) {
  const { service } = useSession()
  const { isBusy, said, done, act } = useAction()
  const use = (): Promise<void> =>
    act(
      () => service(scenario).updateScenario({ training_mode: 'hybrid' }),
      () => 'It takes requests now.',
    )
  return (
    <div class="notice warn stack tight">
      <p>This scenario is in mode auto: it learns from traffic alone and takes no requests. Switch it to hybrid, which takes both.</p>
      <div>
        <button type="button" class="button" disabled={isBusy} onClick={() => void use()}>
          Switch to hybrid
        </button>
      </div>
      <Done said={said} done={done} />
    </div>
  )
}
