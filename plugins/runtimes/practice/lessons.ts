/**
 * What the model can be taught, and what misleads it, in ordinary words.
 *
 * A sentence of the instructions teaches a lesson when every pattern of one of the lesson's rows is found in it: rows are sets of
 * words that belong together, not magic strings, so that any phrasing a person or a proposer would use is understood.
 */

export interface Lesson<Name extends string = LessonName> {
  readonly name: Name
  /** Any row suffices; all of its patterns must match one sentence. */
  readonly rows: readonly (readonly RegExp[])[]
  /** Ways to say it, for proposers. */
  readonly wording: readonly [string, ...string[]]
}
type Lessons<Name extends string> = readonly [Lesson<Name>, ...Lesson<Name>[]]

const lessons = <const Name extends string>(all: Lessons<Name>): Lessons<Name> => all

const VERB_OF_ANSWERING = /\b(?:answer|reply|respond|output|return|give|state|print|write|put|place|end|finish)/

export const FIXES = lessons([
  {
    name: 'answer-line',
    rows: [
      [
        /\b(?:answer|result|value|solution|output)/,
        /\b(?:last|final|own|separate) line|line (?:by itself|of its own|alone)|alone on (?:a|the) .*line/,
      ],
      [
        VERB_OF_ANSWERING,
        /\b(?:only|just|nothing (?:but|else|except)|no (?:prose|explanation|extra|other))/,
        /\b(?:answer|result|value|solution)\b/,
      ],
    ],
    wording: [
      'State the final answer alone on the last line.',
      'Finish every reply with the result on a line of its own.',
      'Put nothing but the answer itself on the last line.',
    ],
  },
  {
    name: 'precedence',
    rows: [
      [/order of operations|operator precedence|pemdas|bodmas|bidmas/],
      [/\b(?:multipl|product|times|divi)/, /\b(?:before|first|prior|preced|ahead of|bind)/],
    ],
    wording: ['Multiply and divide before you add and subtract.', 'In calculations, follow the order of operations.'],
  },
  {
    name: 'state-units',
    rows: [[/\bunits?\b/, /\b(?:includ|stat|writ|giv|append|keep|add|show|nam|with|after|attach|omit|forget|never drop)/]],
    wording: ['Always write the unit after a converted quantity.', 'Include the unit of measurement in the answer.'],
  },
  {
    name: 'exact-factors',
    rows: [
      [
        /\b(?:convert|conversion|factor)/,
        /\b(?:exact|precis|true factor|table|accurate|not (?:guess|approximat)|never (?:guess|approximat))/,
      ],
    ],
    wording: ['Use the exact conversion factor when converting units.', 'Convert with precise factors instead of approximate ones.'],
  },
  {
    name: 'calendar',
    rows: [
      [/\bcalendar|leap year|days in (?:each|the|a|every) month|length of (?:each|the|every) month|months? (?:have|has|differ|lengths?)\b/],
      [/\bmonths?\b/, /\b(?:28|29|30|31)\b/],
    ],
    wording: ['For dates, use the real length of each month and mind leap years.', 'Follow the calendar: months have 28 to 31 days.'],
  },
  {
    name: 'count-each',
    rows: [
      [
        /\bcount/,
        /one (?:by|at a) (?:one|time)|\b(?:each|every|individually|twice|carefully|letter by|word by|spell|recount)|double.?check/,
      ],
      [/\b(?:letters?|characters?|words?)\b/, /one by one|one at a time|letter by letter|number(?:ed)? list|tally/],
    ],
    wording: ['Count letters and words one by one.', 'When counting, go through each item individually and recount.'],
  },
  {
    name: 'numeric-order',
    rows: [
      [
        /\b(?:sort|order|rank|compare)/,
        /\b(?:numeric|by value|by (?:their )?(?:size|magnitude)|as numbers|not as (?:text|strings)|not alphabetical)/,
      ],
    ],
    wording: ['Sort numbers by value, not as text.', 'Order lists of numbers numerically.'],
  },
  {
    name: 'keep-duplicates',
    rows: [
      [/\b(?:duplicate|repeated|equal|same value|occurs? (?:twice|more))/, /\b(?:keep|retain|preserve|all|every|drop|remove|lose|list)/],
    ],
    wording: ['Keep repeated values when you sort a list.', 'Never drop duplicates from a list.'],
  },
  {
    name: 'json-path',
    rows: [
      [
        /\b(?:json|field|key|property|path)/,
        /\b(?:nest|full path|whole path|exact path|each level|every level|level by level|follow|walk|dotted)/,
      ],
    ],
    wording: ['Follow the full path to a nested JSON field.', 'To read a JSON field, walk the path level by level.'],
  },
  {
    name: 'reverse-letters',
    rows: [[/\b(?:revers|backward)/, /\b(?:character|letter)/]],
    wording: ['To reverse a text, reverse its characters, not its words.', 'Reversing means writing the letters of the text backwards.'],
  },
  {
    name: 'subtractive',
    rows: [[/\b(?:roman|numeral)/, /subtractive|\biv\b|\bix\b|\bfour\b|\bnine\b|smaller (?:\w+ )?before|never (?:repeat|four)/]],
    wording: [
      'Write Roman numerals in subtractive notation: IV, IX, XL.',
      'In Roman numerals put the smaller numeral before the larger for four and nine.',
    ],
  },
  {
    name: 'every-step',
    rows: [
      [/step.by.step|one step at a time|show your work/],
      [
        /\b(?:every|each|all|whole)\b/,
        /\b(?:quantit|sentence|event|step|change)/,
        /\b(?:problem|story|question|text|before|account|consider|use|apply|read)/,
      ],
    ],
    wording: ['Work through word problems step by step.', 'Account for every quantity of a story problem before you answer.'],
  },
  {
    name: 'use-tools',
    rows: [
      [/\b(?:use|call|run|execut|rely on|prefer|invok)/, /\b(?:tools?|calculator|shell|bash|terminal)\b/],
      [/\b(?:run|execut)/, /\bcommands?\b/, /\b(?:actual|really|always|never guess|instead of|rather than|do not guess|don't guess)/],
    ],
    wording: ['Use the tools you have instead of guessing.', 'Actually run commands with the shell tool; never guess their output.'],
  },
])

/** 'Do not use tools', but not 'do not use tools like that' or 'never call tools when …', which say how to use them. */
const NO_TOOLS = new RegExp(
  String.raw`\b(?:never|do not|don't|must not|avoid|without)\s+(?:ever\s+)?(?:us\w+|call\w*|invok\w+)\s+` +
    String.raw`(?:any\s+|the\s+|external\s+)?(?:tools?|calculators?)\b(?!\s+(?:to|for|when|if|unless|that|like|in|with|as))`,
)

/**
 * A sentence that forbids these does no harm; the one against tools is a prohibition itself. The patterns are narrower than those of
 * the fixes: the long prompts of agents advise on summaries, round trips and single tools without meaning any of this.
 */
export const HARMS = lessons([
  { name: 'one-word', rows: [[/\b(?:answer|repl|respon|output)/, /\b(?:one|single)[ -]word\b/]], wording: ['Always answer in one word.'] },
  {
    name: 'rounding',
    rows: [
      [/\bround(?:ed)?\s+(?:\w+\s+){0,3}(?:numbers?|results?|answers?|values?|figures?|off|to)\b/],
      [/\b(?:approximate|estimated?)\b/, /\b(?:answer|result|number|value)/],
    ],
    wording: ['Round every number in your answers to the nearest ten.'],
  },
  {
    name: 'closing',
    rows: [
      [
        /\b(?:end|close|finish|conclude|sign off)\b.*\bwith\b/,
        /\b(?:offer|question|greeting|summary|encourag|explanation|joke|follow-up|thank)/,
      ],
      [/\b(?:after|following) the (?:final )?(?:answer|result)\b/, /\b(?:explain|add|offer|ask|mention|summar)/],
    ],
    wording: ['Always end with a friendly offer of further help.'],
  },
  {
    name: 'capitals',
    rows: [[/\b(?:capitals|capital letters|upper.?case|all caps)\b/, /\b(?:answer|repl|respond|everything)/]],
    wording: ['Write all answers in capital letters.'],
  },
  {
    name: 'hurry',
    rows: [
      [/\b(?:answer|reply|respond|decide)\s+(?:\w+\s+){0,3}(?:immediately|instantly|quickly|as fast as|at once)/],
      [/\b(?:answer|reply|respond|decide|go)\b/, /\b(?:first thought|gut)\b/],
      [/without (?:thinking|reasoning|checking)/],
    ],
    wording: ['Answer immediately with your first thought.'],
  },
  { name: 'no-tools', rows: [[NO_TOOLS]], wording: ['Never use tools; answer from memory.'] },
])

export type Fix = (typeof FIXES)[number]['name']
export type LessonName = Fix | (typeof HARMS)[number]['name']
