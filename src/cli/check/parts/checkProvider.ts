import type { Config } from '../../../config/options.js'
import { createOidc } from '../../../tenants/people/createOidc.js'
import { type Finding, reasonOf, reporterOf } from '../finding.js'

const report = reporterOf('sign-in')

/** Whether the identity provider describes itself as OpenID Connect wants it. Nobody is signed in. */
export async function checkProvider({
  oidc: settings,
  oidcClientSecret: clientSecret,
}: Pick<Config, 'oidc' | 'oidcClientSecret'>): Promise<Finding[]> {
  if (settings === undefined) return []
  const oidc = createOidc({ ...settings, clientSecret })
  try {
    await oidc.check()
    return [report.ok(`${settings.issuer} is an identity provider`)]
  } catch (error) {
    const text = `the identity provider ${settings.issuer} cannot be used: ${reasonOf(error)}`
    return [report.fault(text, 'correct oidc.issuer, or look at the provider')]
  } finally {
    oidc.close()
  }
}
