/** Texts of others as people can read them. */

/** Without control characters and marks that people do not see. */
export const visible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g, '')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (sign) => (sign === '\n' ? sign : ' '))
    .replaceAll('\ufffd', ' ')
    .trim()

/** A request with fewer says too little. */
export const LETTERS_MIN = 8

/** A sign of Chinese or Japanese and a syllable of Korean say as much as two letters. */
export const lettersIn = (text: string): number =>
  (text.match(/\p{L}/gu)?.length ?? 0) +
  (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0)
