import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Repositories that publish how accounts came to public chains, by the name of the folder that holds the checkout. */
const repositories = {
  'permissionless.js': { owner: 'pimlicolabs', branch: 'main' },
  'smart-wallet': { owner: 'coinbase', branch: 'main' },
  'modular-account': { owner: 'alchemyplatform', branch: 'develop' },
  'aa-benchmarks': { owner: 'alchemyplatform', branch: 'main' },
  nexus: { owner: 'bcnmy', branch: 'deploy-v1.2.0-bootstrap-v1.2.1' },
  'mee-contracts': { owner: 'bcnmy', branch: 'deploy/v0.0.1' },
} as const

export type CheckoutName = keyof typeof repositories

/** The folder that holds the checkouts side by side. */
const root = process.env.PURSER_PUBLISHED_ACCOUNTS || undefined

export function isPresent(name: CheckoutName): boolean {
  return root !== undefined && existsSync(join(root, name))
}

/** What a test says that could not run without the checkout. */
export function absenceOf(name: CheckoutName): string {
  const { owner, branch } = repositories[name]
  const clone = `git clone --depth 1 -b ${branch} https://github.com/${owner}/${name}`
  const reason =
    root === undefined ? 'PURSER_PUBLISHED_ACCOUNTS names no folder' : `${root} has no ${name}`
  return `did not run: ${reason}; there, do ${clone}`
}

export function readCheckout(name: CheckoutName, path: string): string {
  if (root === undefined) throw new Error(absenceOf(name))
  return readFileSync(join(root, name, path), 'utf8')
}
