"""Writes phantoms in the formats that archives use: AVI and DICOM for clips, NIfTI for volumes.

Equal phantoms give equal bytes, as long as the libraries are the same. ECGs are written by `overread.media.wfdb`.
"""

from __future__ import annotations

import gzip
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from overread.tables import content_id

ULTRASOUND_LOOP = "1.2.840.10008.5.1.4.1.1.3.1"
EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1"


def write_avi(path: Path, grey: npt.NDArray[np.uint8], fps: float) -> None:
    """Frames of shape (frames, height, width) as grey FFV1.

    Archives mostly ship MJPEG, which the same reader decodes; but it changes grey levels, and here the truth is exact.
    """
    import av

    rate = Fraction(fps).limit_denominator(1001)
    # Without `bitexact`, the version of the library that wrote it would be inside.
    with av.open(str(path), "w", format="avi", options={"fflags": "+bitexact"}) as container:
        stream: Any = container.add_stream("ffv1", rate=rate, options={"threads": "1", "flags": "+bitexact"})
        stream.height, stream.width = grey.shape[1:]
        stream.pix_fmt = "gray"
        for image in grey:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="gray")))
        container.mux(stream.encode(None))


def write_dicom(path: Path, grey: npt.NDArray[np.uint8], fps: float, spacing_mm: float, patient: str) -> None:
    """The same frames as an uncompressed multi-frame ultrasound loop with frame time and pixel size."""
    import pydicom
    from pydicom.dataset import Dataset, FileMetaDataset

    meta: Any = FileMetaDataset()
    meta.MediaStorageSOPClassUID = ULTRASOUND_LOOP
    meta.MediaStorageSOPInstanceUID = _uid("loop", grey)
    meta.TransferSyntaxUID = EXPLICIT_LITTLE_ENDIAN
    loop: Any = Dataset()
    loop.file_meta = meta
    loop.SOPClassUID, loop.SOPInstanceUID = ULTRASOUND_LOOP, meta.MediaStorageSOPInstanceUID
    loop.StudyInstanceUID, loop.SeriesInstanceUID = _uid("study", grey), _uid("series", grey)
    loop.PatientID, loop.PatientName, loop.PatientBirthDate, loop.PatientSex = patient, "PHANTOM", "", ""
    loop.StudyDate, loop.StudyTime, loop.StudyID, loop.AccessionNumber = "", "", "", ""
    loop.Modality, loop.Manufacturer, loop.ReferringPhysicianName = "US", "overread phantoms", ""
    loop.SeriesNumber, loop.InstanceNumber, loop.PatientOrientation = 1, 1, ""
    loop.ImageType = ["ORIGINAL", "PRIMARY", "TRANSTHORACIC"]
    loop.NumberOfFrames, loop.Rows, loop.Columns = grey.shape
    loop.FrameIncrementPointer = pydicom.tag.Tag(0x0018, 0x1063)
    loop.FrameTime, loop.CineRate = f"{1000 / fps:.10g}", round(fps)
    loop.SequenceOfUltrasoundRegions = [_region(grey.shape, spacing_mm)]
    loop.SamplesPerPixel, loop.PhotometricInterpretation = 1, "MONOCHROME2"
    loop.BitsAllocated, loop.BitsStored, loop.HighBit, loop.PixelRepresentation = 8, 8, 7, 0
    loop.PixelData = grey.tobytes()
    loop["PixelData"].VR = "OB"
    loop.save_as(path, enforce_file_format=True)


def _region(shape: tuple[int, ...], spacing_mm: float) -> Any:
    """The whole image as one two-dimensional tissue region, measured in centimetres."""
    from pydicom.dataset import Dataset

    region: Any = Dataset()
    region.RegionSpatialFormat, region.RegionDataType, region.RegionFlags = 1, 1, 0
    region.RegionLocationMinX0, region.RegionLocationMinY0 = 0, 0
    region.RegionLocationMaxX1, region.RegionLocationMaxY1 = shape[2] - 1, shape[1] - 1
    region.PhysicalUnitsXDirection, region.PhysicalUnitsYDirection = 3, 3
    region.PhysicalDeltaX = region.PhysicalDeltaY = spacing_mm / 10
    return region


def _uid(purpose: str, grey: npt.NDArray[np.uint8]) -> str:
    """A DICOM identifier below 2.25, which is free for everyone, made of the content."""
    return f"2.25.{int(content_id(purpose, grey.tobytes().hex()), 16)}"


def write_nifti(path: Path, voxels: npt.NDArray[Any], affine: npt.NDArray[np.float64]) -> None:
    """A compressed NIfTI file; `affine` leads from voxels to millimetres, RAS+."""
    import nibabel

    made: Any = nibabel.Nifti1Image
    image = made(voxels, affine)
    image.header.set_xyzt_units("mm")
    image.set_sform(affine, code=1)
    image.set_qform(affine, code=1)
    packed = io.BytesIO()
    # The time of writing and the file's name would be inside otherwise.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=4, fileobj=packed, mtime=0) as stream:
        stream.write(image.to_bytes())
    path.write_bytes(packed.getvalue())


def write_names(path: Path, names: dict[int, str]) -> None:
    """What the numbers of a label map mean, as JSON."""
    path.write_text(json.dumps({"names": {str(k): v for k, v in names.items()}}, indent=1) + "\n", encoding="utf-8")
