#!/usr/bin/env node
// Fails on words that stop a reader. Every row has the plain words to write instead; rewrite the sentence.
// Checked: all text of src, console and documents, and titles of tests. Decisions are a log and are not rewritten.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const banned = [
  ['told', 'sent, reported, published, shown'],
  ['mends?|mended|mending', 'fix'],
  ['dear|dearer|dearest', 'expensive, slow'],
  ['reckons?|reckoned|reckoning', 'assume, compute'],
  ['beside', 'next to, on top of, in addition to, with'],
  ['whoever', 'anyone who, the client that'],
  ['amid', 'during'],
  ['hence', 'so'],
  ['rooms?', 'module; or margin, space'],
  ['doors?', 'public entry, interface'],
]
/** Exceptions, each with its reason. */
const allowed = [
  /\broom for\b/gi, // space that is left
]

const places = ['src', 'console/src', 'test', 'docs', 'deploy', '*.md']
const isTest = (file) => file.startsWith('test/')
const isText = (file) => file.endsWith('.md') && file !== 'docs/understand/decisions.md'
const isTitle = (line) => /\b(?:test|describe)\b.*\(\s*['"`]|^\s*\]\)\(\s*['"`]/.test(line)
const words = new RegExp(`\\b(?:${banned.map(([word]) => `(${word})`).join('|')})\\b`, 'gi')
const files = execFileSync('git', ['ls-files', '--', ...places])
  .toString()
  .trim()
  .split('\n')
let found = 0
for (const file of files.filter((file) => /\.(ts|tsx|css)$/.test(file) || isText(file))) {
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (isTest(file) && file.endsWith('.ts') && !isTitle(line)) continue
    const text = allowed.reduce((left, phrase) => left.replace(phrase, ''), line)
    for (const match of text.matchAll(words)) {
      const [, instead] = banned[match.slice(1).findIndex((group) => group !== undefined)]
      console.error(`${file}:${index + 1}: "${match[0]}": write ${instead}`)
      found++
    }
  }
}
if (found > 0) process.exit(1)
