/** Longest text taken from a contract, in characters. */
export const LONGEST_TEXT = 1_000

/** Control, format, private and separator characters: nothing a log or a terminal should obey. */
const unsafe = /[\p{C}\p{Zl}\p{Zp}]/gu

/** `text` without control characters, cut to 1,000 characters. */
export function boundText(text: string): string {
  return Array.from(text.replace(unsafe, '')).slice(0, LONGEST_TEXT).join('')
}
