/** Whether the text can be a key or token at all. Anything else is refused without asking the database. */
export function isKey(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,200}$/.test(text)
}
