#!/usr/bin/env node
// Fails on a package-lock.json that `npm ci` would reject, and on one that names a registry: each user has their own.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'

const locks = execFileSync('git', ['ls-files', '--', '*package-lock.json']).toString().trim()
for (const lock of locks.split('\n')) {
  if (readFileSync(lock, 'utf8').includes('"resolved": "http')) {
    console.error(`${lock}: names a registry: npm install --omit-lockfile-registry-resolved`)
    process.exitCode = 1
  }
  const args = ['ci', '--dry-run', '--ignore-scripts', '--offline', '--loglevel=error']
  const { status, stderr } = spawnSync('npm', args, { cwd: dirname(lock), encoding: 'utf8' })
  if (status === 0) continue
  console.error(`${lock}: npm ci fails\n${stderr}`)
  process.exitCode = 1
}
