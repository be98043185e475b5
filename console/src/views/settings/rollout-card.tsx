/** Who is served a change that is not proved yet, and the release that is provisional now. */
import { useState } from 'preact/hooks'
import { statusFor } from '../../data/status.ts'
import { useAction } from '../../data/use-action.ts'
import { usePolled } from '../../poll.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Choices } from '../../ui/choices.tsx'
import { Command } from '../../ui/command.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Done } from '../../ui/done.tsx'
import type { OwnProps } from './budgets-card.tsx'
import { ConfiguredKeys } from './configured-keys.tsx'

const STATUS_SECONDS = 3
const PERCENT = 100
const SHARE_PERCENT = 10

const TIERS = [
  ['configured', 'As the configuration says.'],
  ['off', 'A change is served once it is proved, and not before.'],
  ['shadow', 'A change that looks better is shown as provisional, and served to nobody.'],
  ['canary', 'It is served, unproven, to a share of sessions and to those who ask for it.'],
] as const
type Tier = (typeof TIERS)[number][0]

export function RolloutCard({ scenario, recipe, own, changed }: OwnProps) {
  const { service } = useSession()
  const { isBusy, said, done, act } = useAction()
  const [chosen, setChosen] = useState<Tier | null>(null)
  const [typed, setTyped] = useState<string | null>(null)
  const [isAsked, setAsked] = useState(false)
  const tier = chosen ?? own.provisional ?? 'configured'
  const percent = typed ?? String(own.canary_share === undefined ? SHARE_PERCENT : own.canary_share * PERCENT)
  const isChanged = chosen !== null || typed !== null
  const use = async (): Promise<void> => {
    const evolution =
      tier === 'configured'
        ? { provisional: null, canary_share: null }
        : { provisional: tier, canary_share: tier === 'canary' ? Number(percent) / PERCENT : null }
    await service(scenario).updateScenario({ evolution })
    await changed()
    setChosen((now) => (now === chosen ? null : now))
    setTyped((now) => (now === typed ? null : now))
  }
  const save = (): Promise<void> => act(use, () => 'The rollout is changed, at once.')
  return (
    <Card title="Rollout">
      <Provisional scenario={scenario} />
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (tier === 'canary') setAsked(true)
          else if (!isBusy) void save()
        }}
      >
        <Choices legend="What becomes of a change that is not proved yet" group="tier" all={TIERS} chosen={tier} choose={setChosen} />
        {tier === 'canary' && (
          <label class="field">
            <span>Share of sessions, in percent; 0: only those who ask for it</span>
            <input
              type="number"
              required
              min="0"
              max="100"
              step="any"
              value={percent}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
        )}
        <div class="row">
          <button class="button primary" disabled={isBusy || !isChanged}>
            Use this rollout
          </button>
        </div>
      </form>
      <Done said={said} done={done} />
      <p class="muted">
        A client or a session that is pinned to a release stays out of this:{' '}
        <a href={hrefOf(placeIn(scenario, 'releases'))}>open a release</a> to see who is at it, and to pin one.
      </p>
      <ConfiguredKeys topic="rollout" recipe={recipe} />
      {isAsked && (
        <Confirm title="Serve what is not proved?" verb="Serve it" act={save} close={() => setAsked(false)}>
          <p>
            Of the sessions of this scenario {percent}% are served a release that only looks better. One that live scores show to be worse
            is withdrawn.
          </p>
        </Confirm>
      )}
    </Card>
  )
}

function Provisional({ scenario }: { readonly scenario: string }) {
  const { service } = useSession()
  const { value: status, refresh } = usePolled('status', (of) => of().status(), STATUS_SECONDS)
  const provisional = statusFor(status, scenario)?.provisional
  const { isBusy, said, done, act } = useAction()
  const withdraw = (): Promise<void> =>
    act(
      async () => {
        await service(scenario).withdraw(provisional?.release_id ?? '')
        await refresh()
      },
      () => 'It is withdrawn. What is served stays.',
    )
  return (
    <>
      {provisional === undefined ? (
        <p class="muted">No release is provisional: everybody is served the same one.</p>
      ) : (
        <div class="stack tight">
          <div class="row">
            <Badge tone="warn">a release is unproven</Badge>
            <span>
              The <a href={hrefOf(placeIn(scenario, 'releases', `@${provisional.step}`))}>provisional release</a>{' '}
              {provisional.canary_share === null
                ? 'is served to nobody.'
                : `is served to ${Math.round(provisional.canary_share * PERCENT)}% of sessions and to those who ask for it.`}
            </span>
            <button type="button" class="button small" disabled={isBusy} onClick={() => void withdraw()}>
              Withdraw it
            </button>
          </div>
          <p class="muted">A client that sends this header with its requests is pinned to it; with "no" it is never served it.</p>
          <Command line="x-svc-provisional: yes" />
        </div>
      )}
      <Done said={said} done={done} />
    </>
  )
}
