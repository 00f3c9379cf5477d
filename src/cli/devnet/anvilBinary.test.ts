import { accessSync, constants } from 'node:fs'
import { expect, test } from 'vitest'
import { anvilBinary } from './anvilBinary.js'

test('names an executable for this platform', () => {
  expect(() => accessSync(anvilBinary(), constants.X_OK)).not.toThrow()
})

test('says what to do on a platform without a binary', () => {
  expect(() => anvilBinary('freebsd', 'x64')).toThrow(
    'The embedded chain has no binary for freebsd-x64: run a node yourself and give --rpc-url.',
  )
})

test('says what to do when the package of this platform is not installed', () => {
  const elsewhere = process.platform === 'darwin' ? 'linux' : 'darwin'
  expect(() => anvilBinary(elsewhere, 'arm64')).toThrow(
    `The optional package @foundry-rs/anvil-${elsewhere}-arm64 is missing`,
  )
})
