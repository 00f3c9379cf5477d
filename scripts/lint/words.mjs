#!/usr/bin/env node
// Fails on words that stop a reader. Every row has the plain words to write instead; rewrite the sentence.
// Checked: all code and documents. Results of measurements are a record.
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
  ['afresh', 'again, from scratch'],
  ['spoil(?:s|t|ed)?', 'break, invalidate'],
  ['vouch(?:es|ed)?', 'confirm, verify'],
  ['want of', 'lack of'],
  ['likewise', 'also'],
  ['of late', 'recently'],
  ['in vain', 'without result'],
  ['goes public|go public', 'is sent publicly'],
  ['(?:its|their|the|your|.s) means', 'available balance'],
  ['offered? (?:more|less|at least)|offered tip|bundling rounds?', 'bid; cycle'],
  ['(?:is|are|it|that|which|node|relay|executor|sender|service)s? rests|rested', 'is paused'],
  ['watchers', 'subscribers; inspector'],
]
/** Further words for pages, which are rewritten more easily than code. */
const bannedInPages = [
  ['anew', 'again, from scratch'],
  ['(?:is|are|be|was|were) away', 'unavailable'],
  ['rests', 'is paused'],
  ['somebody', 'someone, a person'],
  ['tells|tell apart', 'say, report, distinguish'],
  ['hears', 'receive'],
  ['believed?|believes', 'trust, accept'],
  ['lies in|lie in', 'is in'],
]
/** Exceptions, each with its reason. */
const allowed = [
  /\broom for\b/gi, // space that is left
]

const isCode = (file) =>
  /\.(ts|tsx|mjs|sol|css|yaml|sh)$/.test(file) && file !== 'scripts/lint/words.mjs'
const isText = (file) => file.endsWith('.md') && !file.startsWith('bench/results/')
const all = [...banned, ...bannedInPages]
const matcher = (rows) =>
  new RegExp(`\\b(?:${rows.map(([word]) => `(${word})`).join('|')})\\b`, 'gi')
const inCode = matcher(banned)
const inPages = matcher(all)
const files = execFileSync('git', ['ls-files']).toString().trim().split('\n')
let found = 0
for (const file of files.filter((file) => isCode(file) || isText(file))) {
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const text = allowed.reduce((left, phrase) => left.replace(phrase, ''), line)
    for (const match of text.matchAll(file.endsWith('.md') ? inPages : inCode)) {
      const [, instead] = all[match.slice(1).findIndex((group) => group !== undefined)]
      console.error(`${file}:${index + 1}: "${match[0]}": write ${instead}`)
      found++
    }
  }
}
if (found > 0) process.exit(1)
