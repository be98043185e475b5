/** An exchange as a conversation: turn after turn, with thoughts, calls and answers marked. */
import { counted } from '../../../../src/presentation/index.ts'
import type { ComponentChildren } from 'preact'
import { Badge } from '../../ui/badge.tsx'
import { Bounded } from '../../ui/bounded.tsx'
import { Facts, type Fact } from '../../ui/facts.tsx'
import { Id } from '../../ui/id.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import type { ShownExchange, ShownPart, ShownTurn } from './exchange.ts'

const TURNS_STEP = 12
const PARTS_STEP = 50
const TOOLS_STEP = 30

export function Conversation({ exchange }: { readonly exchange: ShownExchange }) {
  const { asked, answers, tools, settings, usage, trouble } = exchange
  return (
    <div class="stack">
      {trouble !== null && (
        <p class="notice warn">
          <b>Not whole.</b> <Text value={trouble} />
        </p>
      )}
      <Facts facts={textFacts(settings)} />
      {tools.length > 0 && (
        <details class="fold">
          <summary>{counted(tools.length, 'tool')} offered</summary>
          <ul class="stack tight">
            <Bounded items={tools} step={TOOLS_STEP} noun="tools">
              {({ name, description }, at) => (
                <li key={at}>
                  <Text value={name} class="mono" />
                  {description !== null && <LongText value={description} />}
                </li>
              )}
            </Bounded>
          </ul>
        </details>
      )}
      <section class="turns" aria-label="Conversation">
        <Bounded items={asked} step={TURNS_STEP} noun="turns" fromEnd>
          {(turn, at) => <TurnBlock key={at} turn={turn} />}
        </Bounded>
        <Answers answers={answers} />
      </section>
      <Facts facts={textFacts(usage)} />
    </div>
  )
}

export function Answers({ answers }: Pick<ShownExchange, 'answers'>) {
  return (
    <>
      <Bounded items={answers} step={TURNS_STEP} noun="choices">
        {(answer, at) => (
          <TurnBlock key={`answer ${at}`} turn={answer} isAnswer>
            {answers.length > 1 && <Badge tone="plain">{`choice ${at + 1}`}</Badge>}
            {answer.stop !== null && (
              <Badge tone="plain" title="Why the answer ended">
                <Text value={answer.stop} />
              </Badge>
            )}
          </TurnBlock>
        )}
      </Bounded>
      {answers.length === 0 && <p class="muted">There is no answer.</p>}
    </>
  )
}

/** Whatever the request and the provider called them. */
const textFacts = (facts: ShownExchange['usage']): readonly Fact[] =>
  facts.map(([name, value]) => [visible(name), <Text value={value} class="mono" />])

interface TurnBlockProps {
  readonly turn: ShownTurn
  readonly isAnswer?: boolean
  readonly children?: ComponentChildren
}

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

function TurnBlock({ turn: { role, parts }, isAnswer = false, children }: TurnBlockProps) {
  return (
    <article class={`turn ${ROLES.has(role) ? role : 'other'} ${isAnswer ? 'answer' : ''}`}>
      <header class="row">
        <h3>
          <Text value={isAnswer ? 'Answer' : role} />
        </h3>
        {children}
      </header>
      {parts.length === 0 && <p class="muted">Nothing was said.</p>}
      <Parts parts={parts} />
    </article>
  )
}

function Parts({ parts }: { readonly parts: readonly ShownPart[] }) {
  return (
    <Bounded items={parts} step={PARTS_STEP} noun="parts">
      {(part, at) => <PartBlock key={at} part={part} />}
    </Bounded>
  )
}

function PartBlock({ part }: { readonly part: ShownPart }) {
  switch (part.kind) {
    case 'text':
      return <LongText value={part.text} />
    case 'thinking':
      return (
        <details class="fold">
          <summary>{`Thinking, ${counted(part.text.length, 'character')}`}</summary>
          <LongText value={part.text} />
        </details>
      )
    case 'refusal':
      return (
        <div class="part bad">
          <Badge tone="bad">refused</Badge>
          <LongText value={part.text} />
        </div>
      )
    case 'image':
      return <img class="picture" src={part.source} alt="From the conversation" loading="lazy" decoding="async" />
    case 'address':
      return (
        <p class="part">
          <Badge tone="plain" title="It lies elsewhere and is not loaded">{`${part.what}, not loaded`}</Badge>{' '}
          <LongText value={part.address} mono />
        </p>
      )
    case 'call':
      return (
        <div class="part call">
          <PartHead word="calls" name={part.name} callId={part.callId} />
          <LongText value={part.input} mono />
        </div>
      )
    case 'result':
      return (
        <div class={`part result ${part.isError ? 'bad' : ''}`}>
          <PartHead word={part.isError ? 'failed' : 'result'} name={null} callId={part.callId} />
          {part.parts.length === 0 && <p class="muted">Empty.</p>}
          <Parts parts={part.parts} />
        </div>
      )
    default:
      return (
        <details class="fold">
          <summary>
            <Text value={part.type} />
          </summary>
          <LongText value={part.json} mono />
        </details>
      )
  }
}

function PartHead({ word, name, callId }: { readonly word: string; readonly name: string | null; readonly callId: string | null }) {
  return (
    <div class="row">
      <Badge tone={word === 'failed' ? 'bad' : 'plain'}>{word}</Badge>
      {name !== null && <Text value={name} class="mono" />}
      <span class="spring" />
      {callId !== null && <Id value={callId} />}
    </div>
  )
}
