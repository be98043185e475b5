/** What a person's next words say of the answer before them, as far as their beginning shows it in a few languages. The weakest of the signs. */

/** As agents write it when a person stops them. */
const INTERRUPTED = /^\[(?:request|turn|session)\b[^\]\n]{0,60}\b(?:interrupted|aborted|cancelled)\b/i

/** Ends a word: `\b` knows Latin letters alone. */
const END = String.raw`(?=$|[\s,.!?:;…–—-])`

const CORRECTIONS = new RegExp(
  [
    `(?:no|nope|wrong|incorrect|not (?:right|correct|quite|what|true)|undo|revert)${END}`,
    `(?:that|this|it)(?:['’]?s| is| was)? (?:still )?(?:not|wrong|incorrect|broken|false)${END}`,
    `(?:it |that |this )?(?:still )?(?:doesn['’]?t|does not|didn['’]?t|did not) (?:work|compile|build|run|help|pass)`,
    `still (?:fail|broken|wrong|not|the same|an? error)`,
    `you (?:forgot|missed|broke|misunderstood|didn['’]?t)`,
    `(?:nein|falsch|das stimmt nicht|stimmt nicht|das ist falsch|geht (?:immer noch )?nicht|funktioniert (?:immer noch )?nicht)${END}`,
    `(?:non|faux|c['’]est faux|ce n['’]est pas|[cç]a ne (?:marche|fonctionne) pas)${END}`,
    `(?:est[aá] mal|incorrecto|eso no|no funciona|n[aã]o|errado|est[aá] errado|sbagliato|non funziona|nee|fout|klopt niet)${END}`,
    `(?:нет|неверно|неправильно|не работает)${END}`,
    '不对|不是这|错了|不行|还是不|還是不|不對|錯了|違い|違う|ちがう|いいえ|間違|動かない|아니|틀렸',
  ]
    .map((words) => `^(?:${words})`)
    .join('|'),
  'iu',
)
const POLITE = /^no (?:problem|worries|need|rush|thanks|thank you)/i

const THANKS = new RegExp(
  [
    `(?:thanks|thank you|thx|ty|perfect|great|awesome|excellent|lgtm|looks good|(?:it|that|this) works|works)${END}`,
    `(?:danke|perfekt|super|prima|merci|parfait|gracias|perfecto|obrigad[oa]|perfeito|grazie|perfetto|bedankt|dank je|спасибо|отлично)${END}`,
    '谢谢|多谢|謝謝|ありがとう|고마|감사',
  ]
    .map((words) => `^(?:${words})`)
    .join('|'),
  'iu',
)
/** Thanks with a reservation are none. */
const BUT = /(?:^|[\s,.;])(?:but|however|although|aber|jedoch|mais|pero|mas|però|maar|но)\s|但|しかし|けど|하지만/iu

const BEGINNING_CHARACTERS = 400

/** Null where the words do not say. */
export function judgementIn(text: string): 'corrects' | 'thanks' | 'interrupts' | null {
  const begin = text.trimStart().slice(0, BEGINNING_CHARACTERS)
  if (INTERRUPTED.test(begin)) return 'interrupts'
  if (CORRECTIONS.test(begin) && !POLITE.test(begin)) return 'corrects'
  return THANKS.test(begin) && !BUT.test(begin) ? 'thanks' : null
}
