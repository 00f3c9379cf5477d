import { readFileSync } from 'node:fs'
import type { Hex } from 'viem'
import { z } from 'zod'
import { ConfigError } from '../base/errors/configError.js'
import type { KeyReference, ServiceKeyReference } from '../chain/definition/chainDefinition.js'
import type { KeySource } from '../chain/signing/openSigner.js'
import type { ServiceKey } from '../chain/signing/serviceSigner.js'

export type Environment = Readonly<Record<string, string | undefined>>

const privateKey = /^0x[0-9a-fA-F]{64}$/

/**
 * The place of a key with everything looked up that it needs: `env:NAME`, passwords, credentials of key services.
 * @throws ConfigError when something is not there
 */
export function resolveKey(reference: KeyReference, environment: Environment): KeySource {
  if (typeof reference === 'string') return resolvePrivateKey(reference, environment)
  if ('keystore' in reference) {
    const { keystore, password } = reference
    return { keystore, password: resolvePassword(password, environment) }
  }
  const references = 'anyOf' in reference ? reference.anyOf : [reference]
  return { services: references.map((each) => resolveService(each, environment)) }
}

function resolveService(reference: ServiceKeyReference, environment: Environment): ServiceKey {
  const need = (name: string): string => needed(environment, name)
  if ('kms' in reference) {
    const credentials = {
      accessKeyId: need('AWS_ACCESS_KEY_ID'),
      secretAccessKey: need('AWS_SECRET_ACCESS_KEY'),
      sessionToken: environment.AWS_SESSION_TOKEN,
    }
    return { kind: 'kms', ...reference.kms, credentials }
  }
  if ('gcp' in reference)
    return { kind: 'gcp', ...reference.gcp, credentials: googleCredentials(environment) }
  if ('azure' in reference) {
    const credentials = {
      tenantId: need('AZURE_TENANT_ID'),
      clientId: need('AZURE_CLIENT_ID'),
      clientSecret: need('AZURE_CLIENT_SECRET'),
      authority: environment.AZURE_AUTHORITY_HOST || 'https://login.microsoftonline.com',
    }
    return { kind: 'azure', ...reference.azure, credentials }
  }
  if ('turnkey' in reference) {
    const credentials = { apiPrivateKey: need('TURNKEY_API_PRIVATE_KEY') }
    return { kind: 'turnkey', ...reference.turnkey, credentials }
  }
  const { authorization: name, ...proxied } =
    'web3signer' in reference ? reference.web3signer : reference.jsonRpc
  const authorization = name === undefined ? undefined : need(name.slice('env:'.length))
  if ('publicKey' in proxied)
    return {
      kind: 'web3signer',
      ...proxied,
      publicKey: proxied.publicKey.toLowerCase() as Hex,
      authorization,
    }
  return { kind: 'jsonRpc', ...proxied, authorization }
}

function needed(environment: Environment, name: string): string {
  const value = environment[name]
  if (value) return value
  throw new ConfigError(
    `${name} must be set for a key in a key service, as the configuration says.`,
  )
}

const accountSchema = z.object({
  type: z.literal('service_account'),
  client_email: z.string(),
  private_key: z.string(),
  token_uri: z.url(),
})

/** As Google's own clients look for them: the file of a service account, else the metadata server. */
function googleCredentials(environment: Environment) {
  const { GOOGLE_APPLICATION_CREDENTIALS: path, GCE_METADATA_HOST: host } = environment
  if (!path) return { metadataHost: host || 'metadata.google.internal' }
  try {
    const account = accountSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
    const { client_email: clientEmail, private_key: key, token_uri: tokenUri } = account
    return { clientEmail, privateKey: key, tokenUri }
  } catch {
    // What was read may hold a key, so nothing of it is shown.
    throw new ConfigError(
      `GOOGLE_APPLICATION_CREDENTIALS must name the key file of a service account: ${path} is none.`,
    )
  }
}

function resolvePrivateKey(reference: string, environment: Environment): Hex {
  if (!reference.startsWith('env:')) return reference as Hex
  const name = reference.slice('env:'.length)
  const key = environment[name]
  if (key === undefined || !privateKey.test(key))
    throw new ConfigError(
      `${name} must hold a private key (0x and 64 hex digits), as the configuration of a chain says.`,
    )
  return key as Hex
}

function resolvePassword(reference: string, environment: Environment): string {
  const [kind, ...rest] = reference.split(':')
  const where = rest.join(':')
  if (kind === 'file') {
    try {
      return readFileSync(where, 'utf8').replace(/\r?\n$/, '')
    } catch (cause) {
      throw new ConfigError(`The password file ${where} cannot be read.`, { cause })
    }
  }
  const password = environment[where]
  if (password === undefined) throw new ConfigError(`${where} must hold a keystore's password.`)
  return password
}
