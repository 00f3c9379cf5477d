import { readdirSync, readFileSync } from 'node:fs'

/** What the walk does with a block; a comment `walk: …` above the block says it, without one the block is run. */
export type Way =
  | { readonly kind: 'run' }
  /** Runs on in a terminal of its own, in place of the one that had the name before. */
  | { readonly kind: 'terminal'; readonly name: string }
  | { readonly kind: 'file'; readonly name: string }
  /** Run where that program is installed, else left out. */
  | { readonly kind: 'needs'; readonly program: string }
  /** Not run, for `reason`, but valid for one of our schemas. */
  | { readonly kind: 'schema'; readonly name: string; readonly reason: string }
  /** Not run, for `reason`; its commands and flags exist. */
  | { readonly kind: 'no'; readonly reason: string }

export type Block = {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
  readonly way: Way
}

/** In the order of the walk: the README prepares what the others go on with. */
export const pages: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
]

/** @throws Error when a comment is none of the forms */
export function wayOf(comment: string | undefined): Way {
  if (comment === undefined) return { kind: 'run' }
  const [head = '', reason = ''] = comment.split(/,\s*(.*)/s)
  const [kind, name = ''] = head.split(' ')
  if (kind === 'terminal' || kind === 'file') return { kind, name }
  if (kind === 'needs') return { kind, program: name }
  if (kind === 'schema' && reason !== '') return { kind, name, reason }
  if ((kind === 'no' || kind === 'clone') && reason !== '') return { kind: 'no', reason }
  throw new Error(`The comment "walk: ${comment}" says neither how to run the block nor why not.`)
}

const fence = /(?:^ *<!-- walk: ([^>]*?) -->\n)?^( *)```([a-z]*)[^\n]*\n([\s\S]*?)^ *```$/gm

export function blocksOf(page: string): readonly Block[] {
  const markdown = readFileSync(page, 'utf8')
  return [...markdown.matchAll(fence)].map((match) => {
    const [, comment, indent = '', language = '', text = ''] = match
    return {
      page,
      line: markdown.slice(0, match.index).split('\n').length,
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      way: wayOf(comment),
    }
  })
}
