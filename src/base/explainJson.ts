/** What keeps a text from being JSON, with its line and column: `unexpected "}" in line 2, column 9`. */
export function explainJson(text: string, { message }: Error): string {
  const at = positionOf(text, message)
  if (text.trim() === '') return 'it is empty'
  if (at >= text.length) return `it ends too early, in line ${lineOf(text, text.length)}`
  const before = text.slice(0, at)
  const column = at - before.lastIndexOf('\n')
  const isComma = /,\s*$/.test(before) && /[}\]]/.test(text[at] ?? '')
  const hint = isComma ? ': the comma before it is one too many' : ''
  return `unexpected ${JSON.stringify(text[at])} in line ${lineOf(text, at)}, column ${column}${hint}`
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

/** The place that the message of `JSON.parse` names; the beginning where it names a short text whole. */
function positionOf(text: string, message: string): number {
  const [, position] = /at position (\d+)/.exec(message) ?? []
  if (position !== undefined) return Number(position)
  if (message.includes('end of JSON')) return text.length
  const [, token = ''] = /Unexpected token '?(.)'?/.exec(message) ?? []
  return Math.max(0, text.indexOf(token))
}
